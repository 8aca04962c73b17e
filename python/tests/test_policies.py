"""Policies that are written in Python."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import covey

sys.path.insert(0, str(ROOT / "python/examples"))
from most_uncovered import MostUncovered  # noqa: E402


class Nearest(covey.Policy):
    """What the arm `nearest` does."""

    digests = False
    looks_at = "costs"

    def plan(self, view: covey.View) -> Any:
        ids = np.concatenate([view.contributors.id, view.candidates.id])
        metres = np.concatenate([view.contributors.distance_m, view.candidates.distance_m])
        millimetres = (np.minimum(metres, 1e15) * 1e3).astype(np.uint64)
        return ids[np.lexsort((ids, millimetres))]


def rows(run: covey.Run, arm: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    import pyarrow

    def of(table: covey.Table) -> list[dict[str, Any]]:
        listed = [row for row in pyarrow.table(table).to_pylist() if row["arm"] == arm]
        return [{key: value for key, value in row.items() if key not in ("arm", "strategy")} for row in listed]

    return of(run.runs), of(run.cycles)


@pytest.mark.parametrize(("scenario", "allowance", "seeds"), [("junction", 0.05, [1, 2]), ("corridor", 0.2, [1])])
def test_nearest_in_python_is_nearest(junction: Path, scenario: str, allowance: float, seeds: list[int]) -> None:
    world = junction if scenario == "junction" else None
    arms = [f"nearest@{allowance}", f"my-nearest@{allowance}"]
    run = covey.run(
        world,
        arms,
        seeds,
        warmup_s=1,
        measure_s=3,
        policies={"my-nearest": Nearest},
        progress=False,
    )
    theirs, ours = rows(run, arms[0]), rows(run, arms[1])
    assert len(theirs[0]) == len(seeds) and theirs == ours
    assert sum(row["contributors"] for row in ours[1]) > 0


def test_an_arm_like_any_other(junction: Path, tmp_path: Path) -> None:
    run = covey.run(
        junction,
        ["cam-only", "most-uncovered@0.03"],
        [1, 2],
        warmup_s=2,
        measure_s=6,
        policies={"most-uncovered": MostUncovered},
        record=True,
        out=tmp_path,
        progress=False,
    )
    name = "most-uncovered@0.03"
    assert name in run.report.read_text() and name in str(run)
    assert run.summary.arms[name].deficit.mean < run.summary.arms["cam-only"].deficit.mean  # type: ignore[operator]
    recording = covey.recordings(tmp_path)[0]
    assert name in recording.arms
    assert any(row["contributors"] > 0 for row in recording.cycles(name))
    assert any(pair.better == name for pair in run.summary.paired)


def test_the_view_holds_what_a_host_knows(junction: Path) -> None:
    seen: list[covey.View] = []

    class Looking(covey.Policy):
        def plan(self, view: covey.View) -> None:
            seen.append(view)

    covey.run(junction, "looking@0.1", [1], warmup_s=1, measure_s=2, policies={"looking": Looking}, progress=False)
    view = max(seen, key=lambda view: len(view.candidates))
    agents = view.candidates
    assert len(agents) > 3 and len(agents.offsets) == len(agents) + 1
    assert agents.offsets[-1] == len(agents.cells) > 0 and agents.cells.max() < len(view.coverage)
    assert (np.diff(agents.id.astype(np.int64)) > 0).all()
    assert len(view.rho) == len(view.coverage) == len(view.deadline_s) == len(view.cell_centres())
    assert ((view.coverage >= 0) & (view.coverage <= 1)).all() and (agents.report_bytes > 0).all()
    assert view.host in view.scope.id and set(agents.id) <= set(view.scope.id)
    assert not len(view.contributors) and view.allowance == 0.1 and len(view.objects.id) > 0
    dx, dy = agents.x - view.position[0], agents.y - view.position[1]
    np.testing.assert_allclose(np.hypot(dx, dy), agents.distance_m)


def test_the_host_keeps_its_bounds(junction: Path) -> None:
    class Everyone(covey.Policy):
        def plan(self, view: covey.View) -> list[int]:
            return [*view.contributors.id.tolist(), *view.candidates.id.tolist()]

    arms = ["everyone@0.01", "everyone@0.2"]
    run = covey.run(junction, arms, [1], warmup_s=2, measure_s=4, policies={"everyone": Everyone}, progress=False)
    few, many = (run.summary.arms[arm]["contributors"]["mean"] for arm in arms)
    assert few < many


def test_changes_and_none(junction: Path) -> None:
    class OneByOne(covey.Policy):
        def plan(self, view: covey.View) -> covey.Changes | None:
            if len(view.contributors) >= 2:
                return covey.Changes(remove=[int(view.contributors.id[0])])
            return covey.Changes(admit=view.candidates.id[:1]) if len(view.candidates) else None

    run = covey.run(junction, "one@0.2", [1], warmup_s=1, measure_s=4, policies={"one": OneByOne}, progress=False)
    assert {row["contributors"] for row in rows(run, "one@0.2")[1]} <= {0, 1, 2}
    assert run.summary.arms["one@0.2"]["contributors"]["mean"] > 0


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (lambda view: 1 / 0, ZeroDivisionError, "division"),
        (lambda view: [999_999], ValueError, "plan() named 999999"),
        (lambda view: "all of them", ValueError, "expected ids in order"),
        (lambda view: [0.5], ValueError, "expected ids in order"),
        (lambda view: view.nothing, AttributeError, "nothing"),
    ],
)
def test_what_goes_wrong_in_a_policy_comes_out(junction: Path, answer: Any, error: type[Exception], text: str) -> None:
    class Wrong(covey.Policy):
        def plan(self, view: covey.View) -> Any:
            return answer(view)

    with pytest.raises(error) as raised:
        covey.run(junction, "wrong@0.1", [1, 2, 3], warmup_s=1, measure_s=4, policies={"wrong": Wrong}, progress=False)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("policies", "error", "text"),
    [
        ({"proposed": Nearest}, ValueError, "there is one already"),
        ({"My": Nearest}, ValueError, "lower-case"),
        ({"mine": 7}, TypeError, "policies: mine"),
        ({"mine": lambda: None}, TypeError, "positional argument"),
        ({"mine": type("Odd", (Nearest,), {"looks_at": "sky"})}, ValueError, "looks_at: found"),
    ],
)
def test_what_is_no_policy_is_said(junction: Path, policies: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        covey.run(junction, "mine@0.1", [1], warmup_s=1, measure_s=2, policies=policies, progress=False)


def test_results_of_another_policy_are_never_taken(junction: Path, tmp_path: Path) -> None:
    class Some(covey.Policy):
        def __init__(self, seed: int, most: int = 1) -> None:
            super().__init__(seed)
            self.most = most

        def plan(self, view: covey.View) -> list[int]:
            ids = [*view.contributors.id.tolist(), *view.candidates.id.tolist()]
            return sorted(ids)[: self.most]

    def members(policy: Any) -> float:
        run = covey.run(
            junction, "some@0.2", [1], warmup_s=1, measure_s=3, policies={"some": policy}, out=tmp_path, progress=False
        )
        return float(run.summary.arms["some@0.2"]["contributors"]["mean"])

    one = members(Some)
    two = members(functools.partial(Some, most=2))
    assert one < two and members(Some) == one
    assert json.loads((tmp_path / "summary.json").read_text())["arms"]["some@0.2"]
