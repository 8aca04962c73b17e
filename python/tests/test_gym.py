"""Environments for learning."""

from __future__ import annotations

import gc
import resource
import time
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from covey.gym import AGENT_FEATURES, HOST_FEATURES, HostEnv, HostVectorEnv
from covey.zoo import HostsEnv


def episode(env: HostEnv, seed: int, steps: int, draw: int = 0) -> list[float]:
    random = np.random.default_rng(draw)
    env.reset(seed=seed)
    rewards = []
    for _ in range(steps):
        _, reward, terminated, truncated, _ = env.step(random.uniform(-1, 1, env.action_space.shape).astype(np.float32))
        assert not terminated
        rewards.append(reward)
        if truncated:
            break
    return rewards


def test_gymnasium_s_checks_pass(junction: Path) -> None:
    env = HostEnv(junction, allowance=0.1, episode_s=4.0, slots=16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of what makes an environment by its name nothing is known here.
        warnings.filterwarnings("ignore", message=".*spec.*")
        check_env(env, skip_render_check=True)
    env.close()


def test_observation_action_and_reward(junction: Path) -> None:
    env = HostEnv(junction, allowance=0.1, episode_s=6.0, slots=16, load_price=0.5)
    observation, info = env.reset(seed=3)
    assert observation["agents"].shape == (16, len(AGENT_FEATURES)) and observation["host"].shape == (len(HOST_FEATURES),)
    assert info["seed"] == 3 and len(info["ids"]) == int(observation["mask"].sum()) > 0
    everyone = np.ones(16, dtype=np.float32)
    ended, most = False, 0.0
    while not ended:
        observation, reward, _, ended, info = env.step(everyone)
        assert reward == pytest.approx(-info["missed"] / max(info["relevant"], 1) - 0.5 * info["load"])
        most = max(most, float(observation["agents"][:, AGENT_FEATURES.index("reports")].sum()))
    assert most > 0 and env.observation_space.contains(observation)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(everyone)
    env.close()


def test_same_seed_and_actions_same_rewards(junction: Path) -> None:
    env = HostEnv(junction, allowance=0.1, episode_s=6.0, slots=16)
    first, other = episode(env, 1, 20), episode(env, 2, 20)
    again = episode(env, 1, 20)
    assert first == again and first != other
    assert episode(HostEnv(junction, allowance=0.1, episode_s=6.0, slots=16), 1, 20) == first
    nobody = HostEnv(junction, allowance=0.1, episode_s=6.0, slots=16)
    nobody.reset(seed=1)
    silent = [nobody.step(-np.ones(16, dtype=np.float32))[1] for _ in range(20)]
    assert silent != first


def test_side_by_side_is_one_after_the_other(junction: Path) -> None:
    arguments = {"scenario": junction, "allowance": 0.1, "episode_s": 4.0, "slots": 16}
    vector = HostVectorEnv(3, **arguments)
    assert isinstance(vector, gymnasium.vector.VectorEnv)
    observations, _ = vector.reset(seed=5)
    assert observations["agents"].shape[0] == 3
    actions = np.ones((3, 16), dtype=np.float32)
    rewards = np.array([vector.step(actions)[1] for _ in range(10)])
    for number in range(3):
        env = HostEnv(**arguments)  # type: ignore[arg-type]
        env.reset(seed=5 + number)
        assert [env.step(actions[0])[1] for _ in range(10)] == rewards[:, number].tolist()
    ended = np.zeros(3, dtype=bool)
    for _ in range(30):
        ended |= vector.step(actions)[3]
    assert ended.all()
    vector.close()


def test_resets_are_quick_and_leave_nothing(junction: Path) -> None:
    env = HostEnv(junction, allowance=0.1, episode_s=80.0, slots=16)
    action = np.ones(16, dtype=np.float32)

    def some(count: int) -> float:
        begin = time.perf_counter()
        for number in range(count):
            env.reset(seed=1 + number % 17)
            env.step(action)
        return (time.perf_counter() - begin) / count

    some(30)
    env.step(action)
    time.sleep(1.0)
    begin = time.perf_counter()
    _, info = env.reset()
    assert time.perf_counter() - begin < 0.2 and info["seed"] not in range(100, 1000)
    env.reset(seed=4, options={"next_seed": 5})
    time.sleep(1.0)
    begin = time.perf_counter()
    env.reset(seed=5)
    assert time.perf_counter() - begin < 0.2
    gc.collect()
    before = _resident()
    took = some(100)
    gc.collect()
    assert _resident() - before < 8e6
    assert took < 1.0
    env.close()


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"allowance": 2.0}, "allowance"),
        ({"slots": 0}, "slots: found 0"),
        ({"episode_s": 0.3}, "episode_s"),
        ({"set": {"protocol.targt": 1}}, "did you mean `target`"),
        ({"scenario": "nowhere.toml"}, "nowhere.toml"),
    ],
)
def test_what_is_wrong_is_said(junction: Path, arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        HostEnv(**{"scenario": junction, **arguments})  # type: ignore[arg-type]


def test_a_tile_without_host_is_said(junction: Path) -> None:
    with pytest.raises(RuntimeError, match="had no host"):
        HostEnv(junction, tile=(40, 40), episode_s=2.0).reset(seed=1)


def test_pettingzoo_s_checks_pass(junction: Path) -> None:
    api_test(HostsEnv(junction, allowance=0.1, episode_s=4.0, slots=16), num_cycles=30)
    seed_test(lambda: HostsEnv(junction, allowance=0.1, episode_s=4.0, slots=16), num_cycles=10)


def test_every_host_has_its_turn(junction: Path) -> None:
    alone = HostEnv(junction, allowance=0.1, episode_s=4.0, slots=16)
    begin, _ = alone.reset(seed=3)
    env = HostsEnv(junction, allowance=0.1, episode_s=4.0, slots=16, load_price=0.5)
    env.reset(seed=3)
    one = f"tile_{alone.tile[0]}_{alone.tile[1]}"
    turns: dict[str, int] = {}
    totals: dict[str, float] = {}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        totals[agent] = totals.get(agent, 0.0) + reward
        assert not terminated
        if truncated:
            env.step(None)
            continue
        assert observation is not None and len(info["ids"]) == int(observation["mask"].sum())
        if agent == one and agent not in turns:
            # Before anyone has decided it is shown what it is shown alone.
            assert all((observation[key] == begin[key]).all() for key in begin)
        turns[agent] = turns.get(agent, 0) + 1
        env.step(np.ones(16, dtype=np.float32))
    assert not env.agents and set(totals) == set(env.possible_agents)
    assert turns[one] >= 15 and min(totals[agent] for agent in turns) < 0
    env.close()


def test_twins_are_like_any_other(junction: Path) -> None:
    env = HostEnv(junction, allowance=0.1, episode_s=6.0, slots=16)
    first = episode(env, 1, 20)
    twin = env.twin()
    assert episode(twin, 1, 20) == first and episode(env, 2, 20) == episode(twin, 2, 20)
    # Both were last given seed 2, from which the next ones follow.
    assert twin.reset()[1]["seed"] == env.reset()[1]["seed"]
