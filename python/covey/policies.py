"""Policies that are written in Python."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from ._native import View

LooksAt = Literal["all", "score", "costs", "no-coverage"]


@dataclass(frozen=True)
class Changes:
    """What is to change in the set of contributors; removals come first."""

    admit: Sequence[int] = field(default_factory=tuple)
    remove: Sequence[int] = field(default_factory=tuple)


class Policy:
    """Chooses who reports in the next cycle. Every host that takes office gets one of its own, made with the seed of the run.

    A class of your own need not inherit from this one: a `plan(view)` is enough, and a constructor that takes the seed.
    """

    #: A line for tables and help.
    summary: ClassVar[str] = "hosts ask a policy written in Python"
    #: Beacons carry digests of what their senders see. Without them `cells` are empty, and the beacons shorter.
    digests: ClassVar[bool] = True
    #: What `plan` looks at: "all"; "score" (no objects' history, no paths); "costs" (no coverage of contributors, either);
    #: "no-coverage". What it does not look at, hosts need not work out.
    looks_at: ClassVar[LooksAt] = "all"
    #: `view.features` holds ids and a row for each of what learned policies look at (`covey.AGENT_FEATURES` and `covey.HOST_FEATURES`).
    features: ClassVar[bool] = False

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def plan(self, view: View) -> Sequence[int] | Any | Changes | None:
        """Ids in order, the most wanted first (the host takes whoever fits its bounds), or `Changes`, or None for no change.

        It must depend on nothing but the view, the seed and what it was shown before, and break ties by id.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class OnnxPolicy:
    """A network from an ONNX file as a policy that runs in Rust, without Python: rows of features in, a score per row out.

    Agents with a score above 0 are wanted, the highest first; of equals the lower id. The program takes it as `--model NAME=FILE`.
    """

    file: str | os.PathLike[str]
    summary: str = "hosts ask whom a network of an ONNX file scores highest"


PolicyFactory = Callable[[int], Any] | OnnxPolicy


@dataclass(frozen=True)
class _Own:
    """A policy as the native part takes it."""

    name: str
    summary: str
    factory: Any
    digests: bool
    looks_at: str
    features: bool
    model: str | None
    print: str


def _fingerprint(factory: Any) -> str:
    """What tells a policy from another of its name: the source of its class and what it was given besides."""
    parts = [repr(getattr(factory, "__qualname__", ""))]
    inner = getattr(factory, "func", factory)
    try:
        parts.append(inspect.getsource(inner))
    except (OSError, TypeError):
        # Typed at a prompt: its code stands for its source.
        codes = [getattr(value, "__code__", None) for value in vars(inner).values()] if hasattr(inner, "__dict__") else []
        codes.append(getattr(inner, "__code__", None))
        parts.extend(repr((code.co_code, code.co_consts, code.co_names)) for code in codes if code is not None)
    version = getattr(factory, "version", getattr(inner, "version", None))
    parts.append(repr(version))
    try:
        given = (getattr(factory, "args", None), getattr(factory, "keywords", None))
        parts.append(hashlib.sha256(pickle.dumps(given)).hexdigest())
    except Exception:  # what cannot be pickled cannot be told apart: never taken for the same
        parts.append(repr(object()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def native(policies: Mapping[str, PolicyFactory] | None) -> list[_Own]:
    """Policies by name, for the native part."""
    own = []
    for name, factory in (policies or {}).items():
        if isinstance(factory, OnnxPolicy):
            file = os.fspath(factory.file)
            content = Path(file).read_bytes() if Path(file).is_file() else b""
            own.append(_Own(name, factory.summary, None, True, "all", False, file, hashlib.sha256(content).hexdigest()[:32]))
            continue
        if not callable(factory):
            raise TypeError(f"policies: {name}: found {factory!r}, expected a class, or a function that makes a policy from a seed")
        inner = getattr(factory, "func", factory)
        own.append(
            _Own(
                name=name,
                summary=str(getattr(inner, "summary", Policy.summary)),
                factory=factory,
                digests=bool(getattr(inner, "digests", True)),
                looks_at=str(getattr(inner, "looks_at", "all")),
                features=bool(getattr(inner, "features", False)),
                model=None,
                print=_fingerprint(factory),
            )
        )
    return own
