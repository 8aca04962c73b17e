"""The native part of the package; use `covey` itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

REVISION: str

class Table:
    """A table in Arrow's memory. pandas, Polars, DuckDB and pyarrow read it as it is, through `__arrow_c_stream__`."""

    @staticmethod
    def read(path: str) -> Table: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Agents:
    """Agents that report, or might, by ascending id: a column each.

    The cells of agent `i`'s digest are `cells[offsets[i]:offsets[i + 1]]`, numbers into the host's window.
    """

    id: npt.NDArray[np.uint64]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    heading: npt.NDArray[np.float64]
    speed: npt.NDArray[np.float64]
    distance_m: npt.NDArray[np.float64]
    report_bytes: npt.NDArray[np.float64]
    broadcast_bytes: npt.NDArray[np.float64]
    decoded_fraction: npt.NDArray[np.float64]
    decoded: npt.NDArray[np.bool_]
    offsets: npt.NDArray[np.int64]
    cells: npt.NDArray[np.uint32]
    def __len__(self) -> int: ...

class Scope:
    """Everyone in the host's footprint, by ascending id, the host included."""

    id: npt.NDArray[np.uint64]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    heading: npt.NDArray[np.float64]
    speed: npt.NDArray[np.float64]
    age_s: npt.NDArray[np.float64]
    beacon_share: npt.NDArray[np.float64]

class Objects:
    """Objects that are fresh at the host, by ascending id."""

    id: npt.NDArray[np.uint64]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    velocity_x: npt.NDArray[np.float64]
    velocity_y: npt.NDArray[np.float64]
    age_s: npt.NDArray[np.float64]
    direct: npt.NDArray[np.bool_]

class Window:
    """The window of cells that a host numbers."""

class View:
    """What a host knows when it plans the next cycle: what it decoded, sensed, or carries as a map, and nothing else."""

    now_s: float
    host: int
    tile: tuple[int, int]
    position: tuple[float, float]
    price: float
    occupancy: float | None
    allowance: float
    room_bytes: float
    base_bytes: float
    cell_m: float
    contributors: Agents
    candidates: Agents
    rho: npt.NDArray[np.float64]
    deadline_s: npt.NDArray[np.float64]
    coverage: npt.NDArray[np.float64]
    host_cells: npt.NDArray[np.uint32]
    overheard: npt.NDArray[np.uint32]
    scope: Scope
    objects: Objects
    window: Window
    features: tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]] | None
    def cell_centres(self) -> npt.NDArray[np.float64]: ...

class NativeRecording:
    def __new__(cls, path: str) -> NativeRecording: ...
    def manifest(self) -> str: ...
    def chunks(self) -> list[int]: ...
    def curve(self, arm: int) -> str: ...
    def steps(self, chunk: int) -> list[tuple[int, dict[str, Any]]]: ...
    def deciders(self, arm: int, chunk: int) -> list[tuple[int, int]]: ...
    def snapshot(self, arm: int, cycle: int, host: int) -> str | None: ...
    def cycles(self, arm: int, chunk: int) -> list[dict[str, Any]]: ...

class NativeViewer:
    def __new__(cls, path: str, port: int) -> NativeViewer: ...
    @property
    def url(self) -> str: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def names(self) -> list[str]: ...
    def close(self) -> None: ...

class NativeNetwork:
    def __new__(cls, path: str) -> NativeNetwork: ...
    def scores(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]: ...

class NativeEnv:
    def __new__(
        cls,
        *,
        scenario: str | None,
        folder: str,
        set: str,
        allowance: float,
        tile: tuple[int, int] | None,
        everyone: bool,
        slots: int,
        episode_s: float,
    ) -> NativeEnv: ...
    @staticmethod
    def agent_features() -> list[str]: ...
    @staticmethod
    def host_features() -> list[str]: ...
    @property
    def tile(self) -> tuple[int, int] | None: ...
    @property
    def tiles(self) -> list[tuple[int, int]]: ...
    def twin(self) -> NativeEnv: ...
    def reset(self, seed: int) -> dict[str, Any]: ...
    def prepare(self, seed: int) -> None: ...
    def act(self, scores: Sequence[float]) -> None: ...
    def observe(self) -> dict[str, Any]: ...
    def close(self) -> None: ...

def run(
    *,
    scenario: str | None,
    arms: list[str],
    seeds: list[int],
    warmup_s: float,
    measure_s: float,
    set: str,
    record: bool,
    csv: bool,
    jobs: int | None,
    out: str,
    policies: Sequence[Any],
    watcher: Any,
    file: str,
) -> dict[str, Any]: ...
def sweep(
    *, plan: str, out: str, jobs: int | None, csv: bool, policies: Sequence[Any], watcher: Any, file: str
) -> dict[str, Any]: ...
def arms() -> list[tuple[str, str, bool]]: ...
def decide(name: str, text: str) -> tuple[str, str]: ...
def digest_encode(cells: list[tuple[int, int]]) -> bytes: ...
def digest_decode(data: bytes) -> npt.NDArray[np.int32]: ...
def message_decode(data: bytes) -> str: ...
def capture_read(path: str) -> tuple[list[str], list[str]]: ...
def cam_encode(
    *,
    station_id: int,
    latitude: float,
    longitude: float,
    heading_deg: float | None,
    speed_m_s: float | None,
    length_m: float | None,
    width_m: float | None,
    station_type: int | None,
    generation_ms: int,
    cells: list[tuple[int, int]] | None,
    frame: bool,
    unix_ms: int,
) -> bytes: ...
