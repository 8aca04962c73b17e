"""Training: the search goes on where it stopped, and what is kept is a policy like any other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from conftest import ROOT

import covey
from covey import _native

sys.path.insert(0, str(ROOT / "python/training"))
import train  # noqa: E402

BASELINE = ROOT / "python/training/baseline.onnx"


def nearness(candidates: Any, seeds: list[int]) -> Any:
    """A trial whose best answer is known: all weights 0.3."""
    assert set(seeds) <= set(train.SEEDS)
    return -((candidates - 0.3) ** 2).sum(axis=1)


def test_the_search_finds_what_is_better_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    budget = {"population": 16, "elite": 4, "seeds": 2}
    whole, first = train.Search(), train.Search()
    for _ in range(30):
        whole.generation(nearness, **budget)
    for _ in range(10):
        first.generation(nearness, **budget)
    first.keep(tmp_path / "state.json")
    second = train.Search.kept(tmp_path / "state.json")
    for _ in range(20):
        second.generation(nearness, **budget)
    assert (whole.mean == second.mean).all()
    without_time = [{**told, "cpu_s": 0} for told in whole.history]
    assert without_time == [{**told, "cpu_s": 0} for told in second.history]
    assert whole.history[-1]["of_the_mean"] > whole.history[0]["of_the_mean"]


def test_a_training_from_the_command_line(junction: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.onnx"
    call = [sys.executable, ROOT / "python/training/train.py", "--scenario", junction, "--out", out, "--checkpoint", tmp_path / "state.json"]
    call += ["--population", "3", "--seeds", "1", "--warmup", "1", "--measure", "1", "--set", "protocol.target=0.3", "--generations", "2"]
    first = subprocess.run([*call, "--cpu-minutes", "0"], check=True, capture_output=True, text=True)
    assert "1 of 2 generations" in first.stdout and json.loads(out.with_suffix(".json").read_text())["generations"] == 1
    subprocess.run(call, check=True, capture_output=True)
    told = json.loads(out.with_suffix(".json").read_text())
    assert len(told["history"]) == 2 and told["set"] == {"protocol.target": 0.3} and told["cpu_s"] >= 0
    wrong = subprocess.run([*call, "--set", "protocol.targt=1", "--generations", "3"], capture_output=True, text=True)
    assert wrong.returncode != 0 and "did you mean `target`" in wrong.stderr


def test_the_kept_baseline_decides_as_onnxruntime_does_and_runs_as_an_arm() -> None:
    session, native = onnxruntime.InferenceSession(str(BASELINE)), _native.NativeNetwork(str(BASELINE))
    seen = {"decisions": 0, "different": 0, "wanted": 0, "ordered": 0}

    class Runtime(covey.Policy):
        features = True

        def plan(self, view: covey.View) -> list[int]:
            assert view.features is not None
            ids, rows = view.features
            orders = []
            for scores in (session.run(None, {"features": rows})[0][:, 0], native.scores(rows)):
                orders.append([int(ids[at]) for at in np.lexsort((ids, -scores)) if scores[at] > 0])
            seen["decisions"] += 1
            seen["different"] += orders[0] != orders[1]
            seen["wanted"] += len(orders[0])
            seen["ordered"] += orders[0] != sorted(orders[0])
            return orders[0]

    arms = ["cam-only", "baseline@0.2", "runtime@0.2"]
    policies: dict[str, Any] = {"baseline": covey.OnnxPolicy(BASELINE), "runtime": Runtime}
    run = covey.run(arms=arms, seeds=[1], warmup_s=1, measure_s=3, policies=policies, progress=False)
    assert seen["decisions"] >= 100 and seen["different"] == 0, seen
    assert 0 < seen["wanted"] and 0 < seen["ordered"], seen
    silent, rust, python = run.runs.column("deficit")
    assert rust == python < silent
    told = json.loads(BASELINE.with_suffix(".json").read_text())
    assert len(told["history"]) == told["generations"]
    assert set().union(*(set(generation["seeds"]) for generation in told["history"])) <= set(train.SEEDS)
