"""Recorded runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .snapshots import Decision, decide

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Recording:
    """A recording (`.covey`): who was where, what every arm's hosts decided, and what came of it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._native = _native.NativeRecording(os.fspath(path))
        #: All that it says of itself.
        self.manifest: dict[str, Any] = json.loads(self._native.manifest())

    @property
    def arms(self) -> list[str]:
        """The arms that it holds."""
        return [arm["name"] for arm in self.manifest["arms"]]

    @property
    def seed(self) -> int:
        """The seed that was run."""
        return int(self.manifest["seed"])

    def _arm(self, arm: str) -> int:
        if arm not in self.arms:
            raise ValueError(f"arm: found {arm!r}, expected one of {', '.join(self.arms)}")
        return self.arms.index(arm)

    def curve(self, arm: str) -> dict[str, list[float]]:
        """An arm over time, cycle by cycle: relevant, missed, load, busy, price, contributors."""
        curve: dict[str, list[float]] = json.loads(self._native.curve(self._arm(arm)))
        return curve

    def steps(self) -> Iterator[tuple[int, dict[str, npt.NDArray[np.float64]]]]:
        """Every step: its number, and id, x, y, heading and speed of all vehicles, as arrays."""
        for chunk in self._native.chunks():
            yield from self._native.steps(chunk)

    def cycles(self, arm: str) -> Iterator[dict[str, Any]]:
        """A row per cycle and tile of an arm."""
        number = self._arm(arm)
        for chunk in self._native.chunks():
            yield from self._native.cycles(number, chunk)

    def deciders(self, arm: str) -> Iterator[tuple[int, int]]:
        """Who decided when: cycle and host."""
        number = self._arm(arm)
        for chunk in self._native.chunks():
            yield from self._native.deciders(number, chunk)

    def snapshot(self, arm: str, cycle: int, host: int) -> dict[str, Any] | None:
        """What a host decided on in a cycle; None where it decided nothing."""
        text = self._native.snapshot(self._arm(arm), cycle, host)
        return None if text is None else json.loads(text)

    def decide(self, arm: str, cycle: int, host: int) -> Decision:
        """Decides again on what a host knew."""
        snapshot = self.snapshot(arm, cycle, host)
        if snapshot is None:
            raise ValueError(f"host: {host} decided nothing in cycle {cycle} of {arm}; `deciders({arm!r})` lists who did")
        return decide(snapshot)

    def __repr__(self) -> str:
        return f"<Recording {self.path}: seed {self.seed}, {', '.join(self.arms)}, {self.manifest['cycles']} cycles>"


def recordings(folder: str | os.PathLike[str]) -> list[Recording]:
    """The recordings of a folder."""
    return [Recording(path) for path in sorted(Path(folder).rglob("*.covey"))]
