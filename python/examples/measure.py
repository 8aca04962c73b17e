"""What Python costs: a decision's Python side, an episode of the environment, a reset. CPU seconds, on one core.

python/.venv/bin/python python/examples/measure.py
"""

import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.gym import HostEnv


class Nearest(covey.Policy):
    """The arm `nearest` in Python, counting its decisions."""

    digests = False
    looks_at = "costs"
    decisions = 0

    def plan(self, view: covey.View) -> Any:
        Nearest.decisions += 1
        ids = np.concatenate([view.contributors.id, view.candidates.id])
        metres = np.concatenate([view.contributors.distance_m, view.candidates.distance_m])
        return ids[np.lexsort((ids, (np.minimum(metres, 1e15) * 1e3).astype(np.uint64)))]


class Nothing(Nearest):
    """The view alone."""

    def plan(self, view: covey.View) -> None:
        Nearest.decisions += 1


def cpu_s(arm: str, seeds: range) -> float:
    begin = time.process_time()
    policies = {"my-nearest": Nearest, "nothing": Nothing}
    covey.run(arms=arm, seeds=seeds, warmup_s=5, measure_s=5, policies=policies, jobs=1, progress=False)
    return time.process_time() - begin


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> None:
    seeds = range(1, 4)
    cpu_s("cam-only", range(1, 2))
    rust = cpu_s("nearest@0.2", seeds)
    mine = cpu_s("my-nearest@0.2", seeds)
    each = (mine - rust) / Nearest.decisions
    print(f"corridor, 3 seeds of 10 s: nearest in Rust {rust:.2f} CPU s, in Python {mine:.2f} CPU s")
    print(f"{Nearest.decisions} decisions, {each * 1e6:.0f} us more each")

    env = HostEnv()
    begin = time.process_time()
    env.reset(seed=1)
    print(f"first reset {1e3 * (time.process_time() - begin):.0f} ms, tile {env.tile}")
    action = np.ones(env.action_space.shape or (), dtype=np.float32)
    begin, truncated, steps = time.process_time(), False, 0
    while not truncated:
        *_, truncated, _ = env.step(action)
        steps += 1
    print(f"80 s of the corridor, {steps} decisions: {time.process_time() - begin:.1f} CPU s")
    resets(env, 10)
    resets(HostEnv("scenarios/toy/blind-junction/scenario.toml"), 100)


def resets(env: HostEnv, count: int) -> None:
    """The second time that a seed is met its traffic is there already."""
    action = np.ones(env.action_space.shape or (), dtype=np.float32)
    for number in range(count):
        env.reset(seed=1 + number % 10, options={"next_seed": 2 + number % 10})
    before, begin = resident(), time.process_time()
    for number in range(count):
        env.reset(seed=1 + number % 10, options={"next_seed": 2 + number % 10})
        env.step(action)
    took, more = (time.process_time() - begin) / count, resident() - before
    time.sleep(3.0)
    begin = time.perf_counter()
    env.reset(seed=2 + (count - 1) % 10)
    waited = time.perf_counter() - begin
    print(f"{count} resets with a step each: {1e3 * took:.0f} CPU ms each, {more / 1e6:+.1f} MB; a prepared one {1e3 * waited:.1f} ms")
    env.close()


if __name__ == "__main__":
    main()
