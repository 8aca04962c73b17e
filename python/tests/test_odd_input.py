"""Whatever is handed over, what comes back is an answer or an exception that says what is wrong: no panic crosses the border."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import JUNCTION, ROOT

import covey
from covey import _native
from covey.gym import HostEnv

SHORT: dict[str, Any] = {"warmup_s": 0, "measure_s": 0.2, "progress": False}
FINE = (ValueError, TypeError, OverflowError, RuntimeError, OSError, gymnasium.error.Error)


class Odd(covey.Policy):
    """Answers with what it is told to."""

    answer: Any = None

    def plan(self, view: covey.View) -> Any:
        return Odd.answer(view) if callable(Odd.answer) else Odd.answer


def policy(answer: Any) -> Callable[[], Any]:
    def call() -> Any:
        Odd.answer = answer
        return covey.run(JUNCTION, "odd@0.1", [1], **{**SHORT, "measure_s": 1.0}, policies={"odd": Odd})

    return call


def env(**arguments: Any) -> HostEnv:
    return HostEnv(JUNCTION, **{"episode_s": 1.0, "slots": 4, "allowance": 0.1, "prefetch": False, **arguments})


def stepped(action: Any, seed: Any = 1) -> Callable[[], Any]:
    def call() -> Any:
        odd = env()
        try:
            odd.reset(seed=seed)
            return odd.step(action)
        finally:
            odd.close()

    return call


def run(**arguments: Any) -> Callable[[], Any]:
    return lambda: covey.run(**{"scenario": JUNCTION, "arms": "cam-only", "seeds": [1], **SHORT, **arguments})


CALLS: dict[str, Callable[[], Any]] = {
    "largest seed": run(seeds=[2**64 - 1]),
    "seed beyond": run(seeds=[2**64]),
    "no time": run(measure_s=0),
    "no number": run(measure_s=float("nan")),
    "for ever": run(warmup_s=float("inf")),
    "allowance that is none": run(arms=["proposed@nan"]),
    "arm that is none": run(arms=["\0"]),
    "the same arm twice": run(arms=["cam-only", "cam-only"]),
    "a value without end": run(set={"protocol.target": float("inf")}),
    "a table": run(set={"protocol": {"target": 0.1}}),
    "a folder": run(scenario=ROOT),
    "a binary file": run(scenario=ROOT / "examples/messages.pcap"),
    "jobs without end": run(jobs=2**40),
    "names twice": policy(lambda view: [*view.candidates.id, *view.candidates.id]),
    "negative ids": policy([-1]),
    "ids beyond": policy([2**70]),
    "an endless object": policy(lambda view: (i for i in range(3))),
    "changes of nothing": policy(covey.Changes(admit=[None])),
    "removes who is none": policy(lambda view: covey.Changes(remove=view.candidates.id)),
    "no slots": lambda: env(slots=-1),
    "a tile far away": lambda: env(tile=(2**31 - 1, -(2**31))).reset(seed=1),
    "a tile beyond": lambda: env(tile=(2**40, 0)),
    "an allowance that is none": lambda: env(allowance=float("nan")),
    "an episode that is none": lambda: env(episode_s=float("nan")),
    "a negative seed": stepped(np.ones(4), seed=-1),
    "scores that are none": stepped(np.full(4, np.nan)),
    "scores without end": stepped(np.array([np.inf, -np.inf, 0, 1])),
    "too few scores": stepped(np.ones(3)),
    "words for scores": stepped("all"),
    "a step before the beginning": lambda: env().step(np.ones(4)),
    "observed before the beginning": lambda: env()._native.observe(),
    "a cell beyond": lambda: covey.digest.encode([(2**31, 0)]),
    "cells far apart": lambda: covey.digest.encode([(-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1)]),
    "no cells": lambda: covey.digest.encode([]),
    "a place that is none": lambda: covey.messages.encode_cam(1, float("nan"), 0.0),
    "a station beyond": lambda: covey.messages.encode_cam(2**40, 0.0, 0.0),
    "an empty snapshot": lambda: covey.decide({}),
    "no network": lambda: _native.NativeNetwork(str(ROOT / "examples/messages.pcap")),
    "a row of another width": lambda: _native.NativeNetwork(str(ROOT / "python/training/baseline.onnx")).scores(np.ones((2, 3), np.float32)),
}


@pytest.mark.parametrize("name", CALLS)
def test_odd_calls_end_in_an_answer_or_a_word(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    try:
        CALLS[name]()
    except FINE as error:
        assert str(error), name
    assert "panicked" not in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_odd_bytes_end_in_an_answer_or_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(5)
    good = covey.messages.encode_cam(1, 35.0, 139.0, cells=[(3, -2)], frame=True, unix_ms=1_700_000_000_000)
    network = (ROOT / "python/training/baseline.onnx").read_bytes()
    capture = (ROOT / "examples/messages.pcap").read_bytes()
    file = tmp_path / "odd"

    def read(data: bytes) -> list[Callable[[], Any]]:
        file.write_bytes(data)
        return [
            lambda: covey.messages.decode(data),
            lambda: covey.digest.decode(data),
            lambda: covey.messages.read_capture(file),
            lambda: _native.NativeNetwork(str(file)),
            lambda: covey.Recording(file),
        ]

    for number in range(300):
        whole = bytearray([good, network, capture][number % 3])
        for _ in range(draw.randrange(1, 6)):
            whole[draw.randrange(len(whole))] = draw.randrange(256)
        for call in read(bytes(whole[: draw.randrange(1, len(whole) + 1)] if number % 2 else whole)):
            try:
                call()
            except FINE as error:
                assert str(error)
    assert "panicked" not in capfd.readouterr().err
