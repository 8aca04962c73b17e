"""The notebooks run from the top of the repository, here on short windows."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

#: What takes the place of each notebook's parameters, and a word that its outputs must have.
SHORT = {
    "1-figure-2": ('SEEDS, WARMUP_S, MEASURE_S = range(1, 3), 1, 1\nARMS = ["cam-only", "cpm-rmr", "proposed@0.4"]', "<svg"),
    "2-your-own-policy": (
        'SEEDS, WARMUP_S, MEASURE_S = range(1, 3), 2, 4\nJUNCTION = "scenarios/toy/blind-junction/scenario.toml"',
        "most-uncovered@0.03",
    ),
    "3-train-export-compare": (
        'SCENARIO = "scenarios/toy/blind-junction/scenario.toml"\n'
        "BUDGET = dict(generations=1, population=3, seeds=1, episode_s=2.0)\n"
        "SEEDS, WARMUP_S, MEASURE_S = range(1001, 1003), 1, 4",
        "learned@0.1",
    ),
}


def test_every_notebook_is_run_here() -> None:
    there = {path.stem for path in (ROOT / "python/notebooks").glob("*.ipynb")}
    assert there == set(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_a_notebook_runs(name: str) -> None:
    file = ROOT / "python/notebooks" / f"{name}.ipynb"
    notebook = nbformat.read(file, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    parameters, word = SHORT[name]
    (cell,) = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    cell.source = parameters
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert word in str(shown)
    assert Path(file).read_text(encoding="utf-8")
