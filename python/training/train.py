"""Trains the small baseline: scores by a network of one hidden layer, by the cross-entropy method, with numpy alone.

    python python/training/train.py --out python/training/baseline.onnx

Trains at the blind junction on seeds 1 to 17 only. Every agent of a host's view is scored by the same network from its own numbers and the host's; those above 0
are wanted, the highest first. The first guess imitates nobody: all weights are drawn around 0.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from covey.gym import AGENT_FEATURES, HOST_FEATURES, HostVectorEnv

INPUTS = len(AGENT_FEATURES) + len(HOST_FEATURES)
HIDDEN = 8
#: Weights of the network, one after the other: hidden layer, its bias, output, its bias.
SIZE = INPUTS * HIDDEN + HIDDEN + HIDDEN + 1


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


def fitness(candidates, env, seeds, steps):
    """Mean reward of each candidate: each has an environment of its own, on the same seeds as all others."""
    total = np.zeros(len(candidates))
    for seed in seeds:
        observation, _ = env.reset(seed=[seed] * len(candidates))
        for _ in range(steps):
            actions = np.stack([
                np.clip(scores(w, observation["agents"][at], observation["host"][at]), -1, 1) for at, w in enumerate(candidates)
            ])
            observation, reward, *_ = env.step(actions.astype(np.float32))
            total += reward
    return total / (len(seeds) * steps)


def train(*, scenario=None, allowance=0.4, generations=8, population=12, elite=3, seeds=2, episode_s=6.0, load_price=0.5, seed=7, say=print):
    """The cross-entropy method. Gives the weights and the mean reward of every generation."""
    random = np.random.default_rng(seed)
    env = HostVectorEnv(
        population, scenario=scenario, allowance=allowance, episode_s=episode_s + 2.0, load_price=load_price, prefetch=False
    )
    steps = int(episode_s / 0.2)
    mean, spread = np.zeros(SIZE), np.full(SIZE, 0.5)
    history = []
    for generation in range(generations):
        begin = time.perf_counter()
        candidates = mean + spread * random.standard_normal((population, SIZE))
        candidates[0] = mean
        chosen = 1 + random.choice(17, size=seeds, replace=False)
        found = fitness(candidates, env, [int(s) for s in chosen], steps)
        best = candidates[np.argsort(-found)[:elite]]
        mean, spread = best.mean(axis=0), 0.7 * spread + 0.3 * (best.std(axis=0) + 0.05)
        history.append(float(found.max()))
        say(f"generation {generation + 1}: mean {found.mean():.4f}, best {found.max():.4f}, {time.perf_counter() - begin:.1f} s")
    env.close()
    return mean.astype(np.float32), history


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
    parser.add_argument("--out", type=Path, default=Path("baseline.onnx"))
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--population", type=int, default=24)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episode", type=float, default=20.0)
    parser.add_argument("--allowance", type=float, default=0.1)
    parser.add_argument("--load-price", type=float, default=0.5)
    parser.add_argument("--scenario", default="scenarios/toy/blind-junction/scenario.toml")
    arguments = parser.parse_args()
    begin = time.process_time()
    weights, history = train(
        scenario=arguments.scenario,
        allowance=arguments.allowance,
        generations=arguments.generations,
        population=arguments.population,
        elite=max(2, arguments.population // 4),
        seeds=arguments.seeds,
        episode_s=arguments.episode,
        load_price=arguments.load_price,
    )
    export(weights, arguments.out)
    print(f"{arguments.out}: {SIZE} weights, {time.process_time() - begin:.0f} CPU s, best rewards {[round(h, 4) for h in history]}")


if __name__ == "__main__":
    main()
