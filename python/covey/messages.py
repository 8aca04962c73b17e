"""ETSI messages: encode, decode, read captures."""

from __future__ import annotations

import json
import os
import time
import warnings
from typing import Any

from . import _native
from .digest import _cells


def encode_cam(
    station_id: int,
    latitude: float,
    longitude: float,
    *,
    heading_deg: float | None = None,
    speed_m_s: float | None = None,
    length_m: float | None = None,
    width_m: float | None = None,
    station_type: int | None = None,
    generation_ms: int = 0,
    cells: Any = None,
    frame: bool = False,
    unix_ms: int | None = None,
) -> bytes:
    """A CAM in UPER, with a coverage digest where `cells` are given; as an Ethernet frame (GeoNetworking, BTP) with `frame`."""
    return _native.cam_encode(
        station_id=station_id,
        latitude=latitude,
        longitude=longitude,
        heading_deg=heading_deg,
        speed_m_s=speed_m_s,
        length_m=length_m,
        width_m=width_m,
        station_type=station_type,
        generation_ms=generation_ms,
        cells=None if cells is None else _cells(cells),
        frame=frame,
        unix_ms=int(time.time() * 1000) if unix_ms is None else unix_ms,
    )


def decode(data: bytes | str) -> dict[str, Any]:
    """An Ethernet frame, a GeoNetworking packet or an ITS message, as bytes or hex."""
    if isinstance(data, str):
        try:
            data = bytes.fromhex(data.replace(":", ""))
        except ValueError as error:
            raise ValueError(f"data: found {data[:80]!r}, expected bytes or hex digits") from error
    decoded: dict[str, Any] = json.loads(_native.message_decode(bytes(data)))
    return decoded


def read_capture(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every frame of a capture (pcap or pcapng). Frames that cannot be read are left out, with a warning that names each."""
    frames, unread = _native.capture_read(os.fspath(path))
    for problem in unread:
        warnings.warn(problem, stacklevel=2)
    return [json.loads(frame) for frame in frames]
