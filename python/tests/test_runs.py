"""Runs and sweeps do what the program does."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import JUNCTION, ROOT

import covey

ARMS = ["cam-only", "proposed@0.03", "demand@0.15"]


class Names:
    """Keeps the names of jobs that were begun."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []
        self.states = 0

    def remark(self, text: str) -> None:
        pass

    def begin(self, names: list[str]) -> None:
        self.names.append(names)

    def progress(self, *_: object) -> None:
        self.states += 1


def test_same_seeds_same_bytes_as_the_program(binary: Path, junction: Path, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    arms = [word for arm in ARMS for word in ("--arm", arm)]
    call = [binary, "run", junction, *arms, "--seeds", "1..=2", "--warmup", "2", "--measure", "4", "--quiet", "--out", there]
    subprocess.run(call, check=True, capture_output=True)
    found = covey.run(junction, ARMS, [1, 2], warmup_s=2, measure_s=4, out=here, progress=False)
    for table in ("runs.parquet", "cycles.parquet"):
        assert (here / table).read_bytes() == (there / table).read_bytes()
    assert list(found.summary.arms) == ARMS
    assert found.summary["seeds"] == [1, 2]
    assert (here / "report.html").is_file() and found.report == here / "report.html"


def test_a_sweep_has_the_same_bytes(binary: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'name = "small"\nscenario = "{JUNCTION}"\narms = ["cam-only", "random@0.03", "proposed@0.03"]\n'
        'seeds = [1, 2]\nwarmup_s = 2.0\nmeasure_s = 2.0\n[vary]\n"protocol.target" = [0.2, 0.4]\n'
    )
    there, here = tmp_path / "there", tmp_path / "here"
    subprocess.run([binary, "sweep", plan, "--quiet", "--out", there], check=True, capture_output=True)
    found = covey.sweep(plan, out=here, progress=False)
    for table in ("runs.parquet", "arms.parquet", "paired.parquet"):
        assert (here / table).read_bytes() == (there / table).read_bytes()
    assert found.name == "small" and len(found.worlds) == 2
    assert found.arms.num_rows == 6 and found.runs.num_rows == 12
    assert "0.2" in found.worlds[0][0] and "<table>" in found._repr_html_()


def test_results_are_kept_and_found_again(junction: Path, tmp_path: Path) -> None:
    first, again, more = Names(), Names(), Names()
    short = {"warmup_s": 1, "measure_s": 1, "out": tmp_path}
    covey.run(junction, "cam-only", [1, 2], progress=first, **short)
    covey.run(junction, "cam-only", [1, 2], progress=again, **short)
    covey.run(junction, "cam-only", [1, 2, 3], progress=more, **short)
    assert first.names == [["seed 1", "seed 2"]] and first.states > 0
    assert again.names == [[]]
    assert more.names == [["seed 3"]]
    assert str(covey.report(tmp_path).summary).count("cam-only") == 1


def test_tables_are_read_by_everyone(junction: Path) -> None:
    import duckdb
    import pandas
    import polars
    import pyarrow

    found = covey.run(junction, ARMS, [1, 2], warmup_s=1, measure_s=2, progress=False)
    arrow = pyarrow.table(found.runs)
    assert arrow.num_rows == 6 and arrow.column_names == found.runs.column_names
    # The same memory, not a copy of it.
    again = pyarrow.table(found.runs)
    address = [table["deficit"].chunk(0).buffers()[1].address for table in (arrow, again)]
    assert address[0] == address[1]
    assert polars.DataFrame(found.runs)["arm"].to_list() == ARMS * 2
    assert pandas.DataFrame.from_arrow(found.runs).shape[0] == 6
    runs = found.runs
    rows = duckdb.sql("select arm, avg(deficit) from runs group by arm order by arm").fetchall()
    assert [arm for arm, _ in rows] == sorted(ARMS) and runs is found.runs
    assert pyarrow.table(found.cycles).num_rows == len(found.cycles) > 50
    means = found.summary.arms["cam-only"].deficit
    assert means.mean is not None and means.lo is not None and means.lo <= means.mean <= (means.hi or 0)


def test_what_shows_in_a_notebook(junction: Path) -> None:
    found = covey.run(junction, ARMS, [1, 2, 3], warmup_s=1, measure_s=2, progress=False)
    page = found._repr_html_()
    assert all(arm in page for arm in ARMS) and "<svg" in page
    assert "proposed@0.03" in str(found) and "deficit" in str(found)
    assert found.figure(0).svg.startswith("<svg")
    with pytest.raises(ValueError, match="expected one of"):
        found.figure("none")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"arms": ["proposd@0.4"]}, "did you mean `proposed@B`"),
        ({"arms": ["proposed"]}, "needs an allowance"),
        ({"seeds": []}, "seeds: found none"),
        ({"seeds": [-1]}, "seeds: found -1"),
        ({"warmup_s": -1}, "warmup_s: found -1"),
        ({"measure_s": 0.3}, "whole cycles"),
        ({"jobs": 0}, "jobs: found 0"),
        ({"set": {"protocol.targt": 0.2}}, "did you mean `target`"),
        ({"set": {"protocol.target": "x"}}, "protocol.target"),
        ({"set": {"protocol.target": None}}, "protocol.target: found null"),
        ({"scenario": "nowhere.toml"}, "nowhere.toml"),
    ],
)
def test_what_is_wrong_is_said_with_its_name(junction: Path, arguments: dict[str, object], text: str) -> None:
    call: dict[str, object] = {"scenario": junction, "arms": ["cam-only"], "warmup_s": 1, "measure_s": 1, "progress": False}
    with pytest.raises(ValueError) as raised:
        covey.run(**{**call, **arguments})  # type: ignore[arg-type]
    assert text in str(raised.value)


def test_other_threads_go_on_meanwhile(junction: Path) -> None:
    turns, end = 0, threading.Event()

    def work() -> None:
        covey.run(junction, ARMS, [1, 2, 3], warmup_s=5, measure_s=20, progress=False)
        end.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not end.is_set():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 50


def test_an_exception_of_the_watcher_ends_the_run(junction: Path) -> None:
    class Impatient(Names):
        def progress(self, *_: object) -> None:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        covey.run(junction, ARMS, range(1, 9), warmup_s=20, measure_s=40, progress=Impatient())


INTERRUPTED = """
import sys, time, covey
class Watch:
    def remark(self, text): pass
    def begin(self, names): pass
    def progress(self, done, *rest):
        if done >= 1:
            print("ready", flush=True)
try:
    covey.run(sys.argv[1], ["cam-only", "proposed@0.03"], range(1, 200), warmup_s=5, measure_s=30, jobs=1, out=sys.argv[2], progress=Watch())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process that is there."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children_cpu_s() -> float:
    """CPU seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_ctrl_c_ends_within_a_second_and_keeps_what_is_finished(junction: Path, tmp_path: Path) -> None:
    call, children = [sys.executable, "-c", INTERRUPTED, str(junction), str(tmp_path)], _children_cpu_s()
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        before, begin = _cpu_s(child.pid), time.monotonic()
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
        passed = time.monotonic() - begin
    assert rest.strip().endswith("interrupted") and child.returncode == 0
    # Beside other work the clock says less than what it took.
    spent = _children_cpu_s() - children - before
    assert min(passed, spent) < 1.0 and passed < 10.0, (passed, spent)
    kept = list((tmp_path / "seeds").rglob("*"))
    assert any(path.is_file() for path in kept)
