"""Learned policies: exported to ONNX, they decide in Rust as onnxruntime does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from conftest import ROOT

import covey
from covey import _native

sys.path.insert(0, str(ROOT / "python/training"))
import train  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with weights that want some and not others."""
    path = tmp_path_factory.mktemp("model") / "some.onnx"
    weights = np.random.default_rng(3).standard_normal(train.SIZE).astype(np.float32)
    train.export(weights, path)
    return path


def ranking(ids: Any, scores: Any) -> list[int]:
    order = np.lexsort((ids, -scores))
    return [int(ids[at]) for at in order if scores[at] > 0]


def test_ten_thousand_decisions_are_the_same(model: Path, junction: Path) -> None:
    session = onnxruntime.InferenceSession(str(model))
    native = _native.NativeNetwork(str(model))
    seen = {"decisions": 0, "different": 0, "wanted": 0, "agents": 0}

    class Runtime(covey.Policy):
        features = True
        looks_at = "all"

        def plan(self, view: covey.View) -> list[int]:
            assert view.features is not None
            ids, rows = view.features
            theirs = session.run(None, {"features": rows})[0][:, 0]
            mine, other = ranking(ids, theirs), ranking(ids, native.scores(rows))
            seen["decisions"] += 1
            seen["different"] += mine != other
            seen["wanted"] += len(mine)
            seen["agents"] += len(ids)
            return mine

    arms = ["runtime@0.05", "rust@0.05"]
    policies: dict[str, Any] = {"runtime": Runtime, "rust": covey.OnnxPolicy(model)}
    found = covey.run(junction, arms, range(1, 18), warmup_s=5, measure_s=125, policies=policies, progress=False)
    assert seen["decisions"] >= 10_000, seen
    assert seen["different"] == 0 and 0 < seen["wanted"] < seen["agents"], seen
    runs = {arm: [] for arm in arms}
    for arm, deficit, load in zip(*(found.runs.column(name) for name in ("arm", "deficit", "load"))):
        runs[arm].append((deficit, load))
    assert runs[arms[0]] == runs[arms[1]]


def test_the_program_takes_the_same_file(model: Path, junction: Path, binary: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    call = [binary, "run", junction, "--model", f"learned={model}", "--arm", "cam-only", "--arm", "learned@0.05"]
    subprocess.run([*call, "--warmup", "2", "--measure", "4", "--quiet", "--out", there], check=True, capture_output=True)
    here = covey.run(
        junction, ["cam-only", "learned@0.05"], [1], warmup_s=2, measure_s=4,
        policies={"learned": covey.OnnxPolicy(model)}, out=tmp_path / "here", progress=False,
    )
    assert (here.folder / "runs.parquet").read_bytes() == (there / "runs.parquet").read_bytes()
    wrong = subprocess.run([*call[:3], "--model", f"x={junction}", "--arm", "x@0.1"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "scenario.toml" in wrong.stderr


def test_what_is_no_network_is_said(junction: Path, tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    odd = tmp_path / "odd.onnx"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 16]) for name in ("x", "y")]
    onnx.save(helper.make_model(helper.make_graph([helper.make_node("Softmax", ["x"], ["y"])], "odd", ends[:1], ends[1:])), str(odd))
    for file, text in [(odd, "operator Softmax: is not known"), (tmp_path / "none.onnx", "none.onnx")]:
        with pytest.raises(ValueError, match=text):
            covey.run(junction, "x@0.1", [1], warmup_s=1, measure_s=1, policies={"x": covey.OnnxPolicy(file)}, progress=False)
