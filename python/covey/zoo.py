"""All hosts of a running simulator, for PettingZoo: each tile's office is an agent.

Hosts of a cycle are asked one after the other, as the simulator asks them, and none hears of another's answer before all have decided; so this is
an environment of turns (AEC). Observation, action and reward of an agent are those of `covey.gym.HostEnv`, of its own tile. An agent is called
`tile_3_-1` after its tile's column and row. It has its turn in every cycle in which the tile has a host, and all end with the episode (truncated).
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv  # type: ignore[import-untyped]

from . import _native
from .gym import Observation, _info, _observation, _reward, _seed, _spaces


def _name(tile: tuple[int, int]) -> str:
    return f"tile_{tile[0]}_{tile[1]}"


class HostsEnv(AECEnv[str, Observation, npt.NDArray[np.float32]]):  # type: ignore[misc]
    """Every host asks. The arguments are those of `covey.gym.HostEnv`."""

    metadata: dict[str, Any] = {"name": "covey_hosts_v0", "is_parallelizable": False, "render_modes": []}

    def __init__(
        self,
        scenario: str | os.PathLike[str] | None = None,
        *,
        set: Mapping[str, Any] | None = None,
        allowance: float = 0.4,
        slots: int = 48,
        episode_s: float = 80.0,
        load_price: float = 0.1,
    ) -> None:
        super().__init__()
        with tempfile.TemporaryDirectory(prefix="covey-") as folder:
            self._native = _native.NativeEnv(
                scenario=None if scenario is None else os.fspath(scenario),
                folder=folder,
                set=json.dumps(dict(set or {})),
                allowance=float(allowance),
                tile=None,
                everyone=True,
                slots=slots,
                episode_s=float(episode_s),
            )
        self.load_price = load_price
        self.render_mode = None
        self.tiles = {_name(tile): tile for tile in self._native.tiles}
        self.possible_agents = list(self.tiles)
        self.agents: list[str] = []
        self._spaces = {agent: _spaces(slots) for agent in self.possible_agents}
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent is shown."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """A score per slot."""
        return self._spaces[agent][1]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins an episode: the world of this seed of `covey.run`, or of one that is drawn."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        world = int(seed) if seed is not None else _seed(int(self._random.integers(2**31)))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"seed": world} for agent in self.agents}
        empty = {agent: space[0] for agent, space in self._spaces.items()}
        self._seen = {agent: _empty(space) for agent, space in empty.items()}
        self._skip_agent_selection = None
        shown = self._native.reset(world)
        self._turn(shown, first=True)

    def observe(self, agent: str) -> Observation:
        """What an agent's tile was like when its host was last asked; zeros before that."""
        return self._seen[agent]

    def step(self, action: npt.NDArray[np.float32] | None) -> None:
        """Answers for the host whose turn it is, and goes on to the next."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._native.act(np.asarray(action, dtype=np.float32).ravel().tolist())
        self._turn(self._native.observe(), first=False)
        self._accumulate_rewards()

    def _turn(self, shown: Mapping[str, Any], *, first: bool) -> None:
        """The turn of whoever is asked; at the end everyone's last one."""
        if shown["truncated"]:
            for tile, tally in shown["ended"].items():
                if _name(tile) in self.rewards:
                    self.rewards[_name(tile)] = _reward(tally, self.load_price)
            self.truncations = dict.fromkeys(self.agents, True)
            self._seen = {agent: _empty(self.observation_space(agent)) for agent in self.agents}
            self.agent_selection = self.agents[0]
            return
        agent = _name(shown["tile"])
        self._seen[agent] = _observation(shown)
        self.infos[agent] = _info(shown, self.infos[agent].get("seed"))
        if not first:
            self.rewards[agent] = _reward(shown, self.load_price)
        self.agent_selection = agent

    def close(self) -> None:
        """Ends the episode and its thread."""
        self._native.close()


def _empty(space: spaces.Space[Any]) -> Observation:
    assert isinstance(space, spaces.Dict)
    return {key: np.zeros(box.shape or (), dtype=np.float32) for key, box in space.spaces.items()}
