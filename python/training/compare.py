"""Compares the kept baseline with other arms on seeds that it was not trained on, pair by pair.

    python python/training/compare.py [FILE.onnx] [--out FOLDER]

Prints deficit and load of every arm, and for each other arm how much more the baseline misses on the same seeds, with a 95 % interval (Student's, over
seeds). With a folder, seeds that are finished are kept there.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import covey

OTHERS = ["cam-only", "nearest@0.2", "random-redraw@0.4", "proposed@0.4", "demand@0.15"]
OURS = ["baseline@0.2", "baseline@0.4"]
#: Of Student's distribution, two-sided 95 %, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}


def interval(values):
    """The mean and half of its 95 % interval."""
    half = STUDENT[len(values) - 1] * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean(), half


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).with_name("baseline.onnx"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(13, 18)), help="2 to 5 of them")
    given = parser.parse_args()
    begin = time.process_time()
    run = covey.run(
        arms=OTHERS + OURS,
        seeds=given.seeds,
        warmup_s=20,
        measure_s=20,
        policies={"baseline": covey.OnnxPolicy(given.file)},
        out=given.out,
        progress=False,
    )
    found = {arm: {} for arm in OTHERS + OURS}
    for arm, seed, deficit, load in zip(*(run.runs.column(name) for name in ("arm", "seed", "deficit", "load"))):
        found[arm][seed] = (100 * deficit, load)
    deficits = {arm: np.array([by_seed[seed][0] for seed in given.seeds]) for arm, by_seed in found.items()}
    loads = {arm: np.mean([by_seed[seed][1] for seed in given.seeds]) for arm, by_seed in found.items()}
    print(f"seeds {given.seeds}, 20 s + 20 s, {covey.revision}, {time.process_time() - begin:.0f} CPU s\n")
    print("| arm | deficit, % | load | " + " | ".join(f"`{arm}` misses more by" for arm in OURS) + " |")
    print("|---|---:|---:|" + "---:|" * len(OURS))
    for arm in OTHERS + OURS:
        mean, half = interval(deficits[arm])
        cells = [f"`{arm}`", f"{mean:.2f} [{mean - half:.2f}, {mean + half:.2f}]", f"{loads[arm]:.3f}"]
        for ours in OURS:
            more, half = interval(deficits[ours] - deficits[arm])
            cells.append("" if ours == arm else f"{more:+.2f} [{more - half:+.2f}, {more + half:+.2f}]")
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
