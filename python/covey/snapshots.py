"""One host decision, explained."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from . import _native


class Decision(Mapping[str, Any]):
    """The outcome (schema covey.decision/1) as a mapping; as text, the decision in words."""

    def __init__(self, values: Mapping[str, Any], told: str) -> None:
        self.values_ = values
        self.told = told

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def __str__(self) -> str:
        return self.told

    __repr__ = __str__


def decide(snapshot: Mapping[str, Any] | str | os.PathLike[str]) -> Decision:
    """Makes one host decision, as `covey decide` does.

    snapshot: a mapping, JSON text, or the path of a file (schema covey.snapshot/1 or covey.demand-snapshot/1).
    """
    if isinstance(snapshot, Mapping):
        name, text = "snapshot", json.dumps(dict(snapshot))
    elif isinstance(snapshot, str) and snapshot.lstrip().startswith("{"):
        name, text = "snapshot", snapshot
    else:
        name = os.fspath(snapshot)
        with open(name, encoding="utf-8") as file:
            text = file.read()
    outcome, told = _native.decide(name, text)
    return Decision(json.loads(outcome), told)
