"""Who should speak? Vehicles that share what they see over a congested channel.

    >>> import covey
    >>> print(covey.run(arms=["cam-only", "proposed@0.4"], seeds=[1], warmup_s=5, measure_s=5))

`run` and `sweep` do what the program of that name does, `decide`, `digest` and `messages` are its smaller commands, `Policy` is a
policy of your own, `covey.gym` an environment for learning. docs/python.md walks through all of it.
"""

from __future__ import annotations

from . import digest, messages
from ._native import REVISION as revision
from ._native import Agents, NativeEnv, Objects, Scope, Table, View
from .policies import Changes, OnnxPolicy, Policy
from .recordings import Recording, recordings
from .results import Arm, Difference, Interval, Paired, Run, Summary, Sweep
from .running import arms, report, run, sweep
from .snapshots import Decision, decide
from .viewer import Viewer, view

#: What `view.features` and environments tell of an agent, in this order.
AGENT_FEATURES: tuple[str, ...] = tuple(NativeEnv.agent_features())
#: What they tell of the host; in rows it follows the agent's.
HOST_FEATURES: tuple[str, ...] = tuple(NativeEnv.host_features())

__all__ = [
    "AGENT_FEATURES",
    "Agents",
    "Arm",
    "Changes",
    "Decision",
    "Difference",
    "HOST_FEATURES",
    "Interval",
    "Objects",
    "OnnxPolicy",
    "Paired",
    "Policy",
    "Recording",
    "Run",
    "Scope",
    "Summary",
    "Sweep",
    "Table",
    "View",
    "Viewer",
    "arms",
    "decide",
    "digest",
    "messages",
    "recordings",
    "report",
    "revision",
    "run",
    "sweep",
    "view",
]
