"""Trains the small baseline: scores by a network of one hidden layer, by the cross-entropy method, with numpy alone.

    python python/training/train.py --out python/training/baseline.onnx

Every agent of a host's view is scored by the same network from its own numbers and the host's; those above 0 are wanted, the highest first.
The first guess imitates nobody: all weights are drawn around 0. Seeds 1 to 12 are for training, 13 to 17 for comparing.

Candidates are tried in one of two ways. `Runs` makes each an arm of `covey.run`, so that all hosts decide as it says and all candidates of a
generation share one world; that is what the baseline was trained with. `Episodes` gives each an environment of its own, where one tile's
hosts decide as it says among the letter's.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import covey
from covey import AGENT_FEATURES, HOST_FEATURES

INPUTS = len(AGENT_FEATURES) + len(HOST_FEATURES)
HIDDEN = 4
#: Weights of the network, one after the other: hidden layer, its bias, output, its bias.
SIZE = INPUTS * HIDDEN + HIDDEN + HIDDEN + 1
#: What is trained on; comparisons are on others.
SEEDS = range(1, 13)


def layers(weights):
    """The flat weights as matrices of 32-bit floats."""
    w = np.asarray(weights, dtype=np.float32)
    at = np.cumsum([INPUTS * HIDDEN, HIDDEN, HIDDEN])
    first, bias, second, last = np.split(w, at)
    return first.reshape(INPUTS, HIDDEN), bias, second.reshape(HIDDEN, 1), last


def scores(weights, agents, host):
    """A score per agent: two layers, the first cut below 0."""
    first, bias, second, last = layers(weights)
    inputs = np.concatenate([agents, np.broadcast_to(host, (*agents.shape[:-1], len(HOST_FEATURES)))], axis=-1)
    return (np.maximum(inputs @ first + bias, 0) @ second + last)[..., 0]


class Episodes:
    """Tries candidates in environments, one each, side by side: the mean reward of a decision."""

    def __init__(self, population, *, episode_s=6.0, **environment):
        from covey.gym import HostVectorEnv

        self.env = HostVectorEnv(population, episode_s=episode_s + 2.0, prefetch=False, **environment)
        self.steps = int(episode_s / 0.2)

    def __call__(self, candidates, seeds):
        total = np.zeros(len(candidates))
        for seed in seeds:
            observation, _ = self.env.reset(seed=[seed] * len(candidates))
            for _ in range(self.steps):
                actions = np.stack([
                    np.clip(scores(w, observation["agents"][at], observation["host"][at]), -1, 1) for at, w in enumerate(candidates)
                ])
                observation, reward, *_ = self.env.step(actions.astype(np.float32))
                total += reward
        return total / (len(seeds) * self.steps)

    def close(self):
        self.env.close()


class Runs:
    """Tries candidates as arms of one run: minus the deficit, minus `load_price` times the load, of all tiles and the whole window."""

    def __init__(self, *, scenario=None, set=None, allowance=0.2, warmup_s=2.0, measure_s=3.0, load_price=0.02, jobs=None):
        self.call = dict(scenario=scenario, set=set, warmup_s=warmup_s, measure_s=measure_s, jobs=jobs)
        self.allowance, self.load_price = allowance, load_price

    def __call__(self, candidates, seeds):
        names = [f"candidate-{number}" for number in range(len(candidates))]
        with tempfile.TemporaryDirectory(prefix="covey-") as folder:
            policies = {}
            for name, weights in zip(names, candidates):
                file = Path(folder) / f"{name}.onnx"
                export(weights, file)
                policies[name] = covey.OnnxPolicy(file)
            arms = [f"{name}@{self.allowance}" for name in names]
            found = covey.run(arms=arms, seeds=seeds, policies=policies, progress=False, **self.call)
            by_arm = dict.fromkeys(arms, 0.0)
            for arm, deficit, load in zip(*(found.runs.column(name) for name in ("arm", "deficit", "load"))):
                by_arm[arm] -= (deficit + self.load_price * load) / len(seeds)
        return np.array([by_arm[arm] for arm in arms])

    def close(self):
        pass


@dataclass
class Search:
    """The cross-entropy method under way: where it draws from, and what came of every generation."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))
    mean: np.ndarray = field(default_factory=lambda: np.zeros(SIZE))
    spread: np.ndarray = field(default_factory=lambda: np.full(SIZE, 0.5))
    history: list[dict] = field(default_factory=list)

    def generation(self, trial, *, population, elite, seeds):
        """Draws candidates, tries them all on the same seeds, and draws nearer to the best from then on."""
        begin = time.process_time()
        candidates = self.mean + self.spread * self.random.standard_normal((population, SIZE))
        candidates[0] = self.mean
        chosen = sorted(int(s) for s in self.random.choice(SEEDS, size=seeds, replace=False))
        found = trial(candidates, chosen)
        best = candidates[np.argsort(-found)[:elite]]
        # Half of the way: a generation has few candidates, and luck is among the reasons why some are best.
        self.mean = 0.5 * self.mean + 0.5 * best.mean(axis=0)
        self.spread = 0.7 * self.spread + 0.3 * (best.std(axis=0) + 0.05)
        self.history.append({
            "seeds": chosen,
            "of_the_mean": round(float(found[0]), 5),
            "average": round(float(found.mean()), 5),
            "best": round(float(found.max()), 5),
            "cpu_s": round(time.process_time() - begin, 1),
        })
        return self.history[-1]

    def keep(self, file):
        """Writes all that is needed to go on."""
        state = {
            "random": self.random.bit_generator.state,
            "mean": self.mean.tolist(),
            "spread": self.spread.tolist(),
            "history": self.history,
        }
        Path(file).write_text(json.dumps(state))

    @classmethod
    def kept(cls, file):
        """Goes on where `keep` was called."""
        state = json.loads(Path(file).read_text())
        search = cls(mean=np.array(state["mean"]), spread=np.array(state["spread"]), history=state["history"])
        search.random.bit_generator.state = state["random"]
        return search


def train(*, scenario=None, set=None, allowance=0.4, generations=8, population=12, elite=3, seeds=2, episode_s=6.0, load_price=0.5, seed=7, say=print):
    """Trains in environments. Gives the weights and the best reward of every generation."""
    search = Search(np.random.default_rng(seed))
    trial = Episodes(population, scenario=scenario, set=set, allowance=allowance, episode_s=episode_s, load_price=load_price)
    for _ in range(generations):
        told = search.generation(trial, population=population, elite=elite, seeds=seeds)
        say(f"generation {len(search.history)}: average {told['average']:.4f}, best {told['best']:.4f}, {told['cpu_s']} CPU s")
    trial.close()
    return search.mean.astype(np.float32), [told["best"] for told in search.history]


def export(weights, path):
    """The network as ONNX: rows of numbers in, a score per row out."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    first, bias, second, last = layers(weights)
    constants = [numpy_helper.from_array(array, name) for name, array in
                 [("first", first), ("bias", bias), ("second", second), ("last", last)]]
    nodes = [
        helper.make_node("Gemm", ["features", "first", "bias"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "second", "last"], ["scores"]),
    ]
    features = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["agents", INPUTS])
    scored = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["agents", 1])
    graph = helper.make_graph(nodes, "covey", [features], [scored], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("baseline.onnx"), help="the network; what it cost and came to goes beside it, as .json")
    parser.add_argument("--generations", type=int, default=26)
    parser.add_argument("--population", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=2, help="of 1 to 12, drawn anew in every generation")
    parser.add_argument("--warmup", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--measure", type=float, default=3.0, metavar="SECONDS")
    parser.add_argument("--allowance", type=float, default=0.2)
    parser.add_argument("--load-price", type=float, default=0.02)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the scenario and its value, as JSON")
    parser.add_argument("--scenario", help="a scenario file; the letter's corridor where there is none")
    parser.add_argument("--checkpoint", type=Path, help="kept after every generation; where it is there, training goes on from it")
    parser.add_argument("--cpu-minutes", type=float, default=float("inf"), help="ends this call after the generation that goes beyond")
    given = parser.parse_args()
    changes = {key: json.loads(value) for key, value in (pair.split("=", 1) for pair in given.set)}
    search = Search.kept(given.checkpoint) if given.checkpoint and given.checkpoint.is_file() else Search()
    trial = Runs(
        scenario=given.scenario, set=changes, allowance=given.allowance, warmup_s=given.warmup, measure_s=given.measure, load_price=given.load_price
    )
    elite = max(2, given.population // 4)
    begin = time.process_time()
    while len(search.history) < given.generations:
        told = search.generation(trial, population=given.population, elite=elite, seeds=given.seeds)
        print(f"generation {len(search.history)}: {told}", flush=True)
        if given.checkpoint:
            search.keep(given.checkpoint)
        if time.process_time() - begin > 60 * given.cpu_minutes:
            break
    if len(search.history) < given.generations:
        print(f"{len(search.history)} of {given.generations} generations; with a checkpoint, call again to go on")
    export(search.mean, given.out)
    told = {
        "network": f"{INPUTS} features, {HIDDEN} hidden, {SIZE} weights",
        "scenario": given.scenario or "the letter's corridor",
        "set": changes,
        "allowance": given.allowance,
        "reward": f"-deficit - {given.load_price} x load, {given.warmup:g} s + {given.measure:g} s, all hosts decide alike",
        "seeds": f"{SEEDS.start} to {SEEDS.stop - 1}, {given.seeds} a generation",
        "population": given.population,
        "elite": elite,
        "generations": len(search.history),
        "cpu_s": round(sum(told["cpu_s"] for told in search.history)),
        "covey": covey.revision,
    }
    generations = ",\n  ".join(json.dumps(generation) for generation in search.history)
    text = json.dumps({**told, "history": []}, indent=1).replace('"history": []', f'"history": [\n  {generations}\n ]')
    given.out.with_suffix(".json").write_text(text + "\n")
    print(f"{given.out}: {SIZE} weights, {told['cpu_s']} CPU s")


if __name__ == "__main__":
    main()
