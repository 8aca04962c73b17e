"""Runs and sweeps: what `covey run` and `covey sweep` do."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _native
from .policies import PolicyFactory, native
from .progress import Watcher, watcher
from .results import Run, Summary, Sweep

PathLike = str | os.PathLike[str]


def _folder(out: PathLike | None) -> tuple[Path, Any]:
    """Where results go, and what removes them where nobody asked for them."""
    if out is not None:
        return Path(out), None
    kept = tempfile.TemporaryDirectory(prefix="covey-")
    return Path(kept.name), kept


def _names(arms: str | Iterable[str] | None) -> list[str]:
    if isinstance(arms, str):
        return [arms]
    return [str(arm) for arm in arms or []]


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    listed = [seeds] if isinstance(seeds, int) else list(seeds)
    for seed in listed:
        if not isinstance(seed, int) or seed < 0:
            raise ValueError(f"seeds: found {seed!r}, expected whole numbers from 0 on")
    if not listed:
        raise ValueError("seeds: found none, expected at least one, such as [1, 2, 3]")
    return listed


def run(
    scenario: PathLike | None = None,
    arms: str | Iterable[str] | None = None,
    seeds: int | Iterable[int] = (1,),
    *,
    warmup_s: float = 40.0,
    measure_s: float = 40.0,
    set: Mapping[str, Any] | None = None,
    policies: Mapping[str, PolicyFactory] | None = None,
    record: bool = False,
    csv: bool = False,
    jobs: int | None = None,
    out: PathLike | None = None,
    progress: bool | Watcher | None = None,
) -> Run:
    """Runs arms on a scenario, as `covey run` does, and gives tables, summary and figures.

    scenario: a scenario file; the letter's corridor where there is none.
    arms: names such as "proposed@0.4"; the letter's where there are none. `covey.arms()` lists them.
    seeds: the same seed is the same world for every arm.
    set: keys of the scenario file and their values, such as {"protocol.target": 0.2}.
    policies: arms of your own: names and classes (or functions that make a policy from a seed), used in `arms` as "name@0.4".
    record: keep a recording of every seed for `covey.view`.
    jobs: seeds at once; one per core where it is not said.
    out: a folder for all that `covey run` writes. Finished seeds are kept there: called again, it goes on where it stopped.
        Without it, results live as long as what is given back.
    progress: False for none, True for the usual, or an object with `remark`, `begin` and `progress`.

    Ctrl-C ends it within a second with KeyboardInterrupt; seeds that are finished stay in `out`.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}, expected at least 1")
    folder, kept = _folder(out)
    found = _native.run(
        scenario=None if scenario is None else os.fspath(scenario),
        arms=_names(arms),
        seeds=_seeds(seeds),
        warmup_s=float(warmup_s),
        measure_s=float(measure_s),
        set=json.dumps(dict(set or {})),
        record=record,
        csv=csv,
        jobs=jobs,
        out=str(folder),
        policies=native(policies),
        watcher=watcher(progress),
        file=_native.__file__,
    )
    return Run(folder, Summary(json.loads(found["summary"])), found["text"], dict(found["figures"]), kept)


def sweep(
    plan: PathLike,
    *,
    policies: Mapping[str, PolicyFactory] | None = None,
    csv: bool = False,
    jobs: int | None = None,
    out: PathLike | None = None,
    progress: bool | Watcher | None = None,
) -> Sweep:
    """Runs every world of a plan, as `covey sweep` does. The other arguments are those of `covey.run`."""
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}, expected at least 1")
    folder, kept = _folder(out)
    found = _native.sweep(
        plan=os.fspath(plan),
        out=str(folder),
        jobs=jobs,
        csv=csv,
        policies=native(policies),
        watcher=watcher(progress),
        file=_native.__file__,
    )
    worlds = [(label, Summary(json.loads(text))) for label, text in found["worlds"]]
    return Sweep(folder, found["name"], worlds, found["text"], kept)


def report(folder: PathLike) -> Run:
    """A finished run that is there already: what `covey run` or `covey.run` left in a folder."""
    path = Path(folder)
    file = path / "summary.json"
    if not file.is_file():
        raise ValueError(f"{file}: there is no such file; expected a folder that `covey run` or `covey.run` wrote")
    summary = Summary(json.loads(file.read_text(encoding="utf-8")))
    figures = {svg.name: svg.read_text(encoding="utf-8") for svg in sorted((path / "figures").glob("*.svg"))}
    return Run(path, summary, str(summary), figures, None)


def arms() -> dict[str, str]:
    """Every arm that comes with Covey, as it is written, and what it does."""
    return {pattern: summary for pattern, summary, _ in _native.arms()}
