"""Environments for learning who should speak: one host of a running simulator, for Gymnasium.

Observation, a dictionary of arrays of 32-bit floats:
    agents: a row per slot, nearest to the host first, with the numbers that `AGENT_FEATURES` names; empty slots are 0
    mask:   1 where a slot holds an agent
    host:   the numbers that `HOST_FEATURES` names
Action: a score per slot, from -1 to 1. Agents with a score above 0 are wanted, the highest first; the host takes whoever fits its
    bounds. Scores of empty slots mean nothing.
Reward: minus the share of relevant objects that participants in the host's tile missed in time, since the last decision, minus
    `load_price` times the tile's cooperative load. What is missed is known to the evaluation alone; no observation holds it.
An episode ends after `episode_s` (truncated, never terminated). A decision is due once a cycle, 0.2 s, while the tile has a host. The
    last cycles before an answer takes effect count towards the answer before it.
Seeds: `reset(seed=n)` is the world of seed n of `covey.run`; the same seed and the same actions give the same rewards. Without a seed
    the next one follows from the last.
"""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _native

AGENT_FEATURES: Sequence[str] = tuple(_native.NativeEnv.agent_features())
HOST_FEATURES: Sequence[str] = tuple(_native.NativeEnv.host_features())

Observation = dict[str, npt.NDArray[np.float32]]

#: Seeds that evaluations use: drawn seeds stay away from them.
_EVALUATED = range(100, 1000)


def _spaces(slots: int) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    observation = spaces.Dict(
        {
            "agents": spaces.Box(-10.0, 10.0, (slots, len(AGENT_FEATURES)), np.float32),
            "mask": spaces.Box(0.0, 1.0, (slots,), np.float32),
            "host": spaces.Box(-10.0, 10.0, (len(HOST_FEATURES),), np.float32),
        }
    )
    return observation, spaces.Box(-1.0, 1.0, (slots,), np.float32)


def _seed(draw: int) -> int:
    """A seed that no evaluation uses."""
    seed = 1 + draw % 1_000_000
    return seed + 1_000_000 if seed in _EVALUATED else seed


class HostEnv(gymnasium.Env[Observation, npt.NDArray[np.float32]]):
    """The hosts of one tile ask; all other hosts decide as the letter's do.

    scenario: a scenario file with built-in traffic; the letter's corridor where there is none.
    set: keys of the scenario file and their values.
    allowance: the share of capacity that a host may spend.
    tile: column and row of the tile; the one with the most road where it is not said.
    slots: how many agents are shown, nearest first.
    prefetch: the next episode is on its way to its first decision, on a thread of its own, while this one runs. `reset()` without a seed takes
        it, and so does `reset(seed=n)` after `reset(..., options={"next_seed": n})`; any other seed begins anew.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: str | os.PathLike[str] | None = None,
        *,
        set: Mapping[str, Any] | None = None,
        allowance: float = 0.4,
        tile: tuple[int, int] | None = None,
        slots: int = 48,
        episode_s: float = 80.0,
        load_price: float = 0.1,
        prefetch: bool = True,
    ) -> None:
        with tempfile.TemporaryDirectory(prefix="covey-") as folder:
            self._native = _native.NativeEnv(
                scenario=None if scenario is None else os.fspath(scenario),
                folder=folder,
                set=json.dumps(dict(set or {})),
                allowance=float(allowance),
                tile=tile,
                everyone=False,
                slots=slots,
                episode_s=float(episode_s),
            )
        self.load_price = load_price
        self.prefetch = prefetch
        self._next: int | None = None
        self.observation_space, self.action_space = _spaces(slots)

    @property
    def tile(self) -> tuple[int, int]:
        """The tile whose hosts ask."""
        tile = self._native.tile
        assert tile is not None
        return tile

    def twin(self) -> HostEnv:
        """Another environment of the same kind. Both share the map, what is known of it, and the traffic of seeds that either has met."""
        other = copy.copy(self)
        other._native = self._native.twin()
        other._next, other._np_random, other._np_random_seed = None, None, None
        return other

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        if seed is not None or self._next is None:
            self._next = _seed(int(self.np_random.integers(2**31)))
        world = self._next if seed is None else int(seed)
        shown = self._native.reset(world)
        if seed is None:
            self._next = _seed(int(self.np_random.integers(2**31)))
        if self.prefetch:
            self._native.prepare(int((options or {}).get("next_seed", self._next)))
        return _observation(shown), _info(shown, world)

    def step(self, action: npt.NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Answers, and waits for the next decision."""
        self._act(action)
        return self._observe()

    def _act(self, action: npt.NDArray[np.float32]) -> None:
        self._native.act(np.asarray(action, dtype=np.float32).ravel().tolist())

    def _observe(self) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        shown = self._native.observe()
        return _observation(shown), _reward(shown, self.load_price), False, bool(shown["truncated"]), _info(shown, None)

    def close(self) -> None:
        """Ends the episode and its thread."""
        self._native.close()


def _observation(shown: Mapping[str, Any]) -> Observation:
    return {"agents": shown["agents"], "mask": shown["mask"].astype(np.float32), "host": shown["host"]}


def _reward(shown: Mapping[str, Any], load_price: float) -> float:
    return -float(shown["missed"] / max(shown["relevant"], 1)) - load_price * float(shown["load"])


def _info(shown: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    names = ("cycles", "relevant", "missed", "load", "all_relevant", "all_missed", "now_s", "host_id", "ids")
    info = {name: shown[name] for name in names}
    if seed is not None:
        info["seed"] = seed
    return info


class HostVectorEnv(VectorEnv[dict[str, Any], npt.NDArray[np.float32], npt.NDArray[Any]]):
    """Several episodes side by side, each on a thread of its own. An episode that has ended begins anew with the next step."""

    def __init__(self, num_envs: int, **arguments: Any) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs: found {num_envs}, expected at least 1")
        first = HostEnv(**arguments)
        self.envs = [first, *(first.twin() for _ in range(num_envs - 1))]
        self.num_envs = num_envs
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, num_envs)
        self.action_space = batch_space(first.action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begins all episodes; a single seed gives the first environment that one and the others those after it."""
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, int):
            seeds = [seed + at for at in range(self.num_envs)]
        else:
            seeds = list(seed)
        # All set out for their first decisions before one is waited for.
        for env, s in zip(self.envs, seeds):
            if s is not None:
                env._native.prepare(int(s))
        begun = [env.reset(seed=s) for env, s in zip(self.envs, seeds)]
        self._over[:] = False
        return self._stack([observation for observation, _ in begun]), self._infos([info for _, info in begun])

    def step(
        self, actions: npt.NDArray[np.float32]
    ) -> tuple[dict[str, Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Answers all that wait, then waits for all: their threads work side by side."""
        for env, action, over in zip(self.envs, actions, self._over):
            if not over:
                env._act(action)
        observations, rewards, truncated, infos = [], [], [], []
        for env, over in zip(self.envs, self._over):
            if over:
                observation, info = env.reset()
                reward, end = 0.0, False
            else:
                observation, reward, _, end, info = env._observe()
            observations.append(observation)
            rewards.append(reward)
            truncated.append(end)
            infos.append(info)
        self._over = np.array(truncated, dtype=bool)
        none = np.zeros(self.num_envs, dtype=bool)
        return self._stack(observations), np.array(rewards), none, self._over.copy(), self._infos(infos)

    def close_extras(self, **_: Any) -> None:
        """Ends all threads."""
        for env in self.envs:
            env.close()

    @staticmethod
    def _stack(observations: list[Observation]) -> dict[str, Any]:
        return {key: np.stack([observation[key] for observation in observations]) for key in observations[0]}

    def _infos(self, infos: list[dict[str, Any]]) -> dict[str, Any]:
        gathered: dict[str, Any] = {}
        for number, info in enumerate(infos):
            gathered = self._add_info(gathered, info, number)
        return gathered
