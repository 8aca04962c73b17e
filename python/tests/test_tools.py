"""The smaller commands."""

from __future__ import annotations

import json
import socket
import subprocess
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import covey


def test_a_decision_is_the_program_s(binary: Path) -> None:
    for name in ("examples/snapshot.json", "examples/demand-snapshot.json"):
        file = ROOT / name
        told = subprocess.run([binary, "decide", "--json", file], check=True, capture_output=True, text=True)
        decision = covey.decide(file)
        assert dict(decision) == json.loads(told.stdout)
        assert dict(covey.decide(json.loads(file.read_text()))) == dict(decision)
        assert "What bound" in str(decision)
    with pytest.raises(ValueError, match="snapshot"):
        covey.decide({"schema": "covey.snapshot/1"})
    with pytest.raises(FileNotFoundError):
        covey.decide("nowhere.json")


def test_digests_go_there_and_back() -> None:
    data = covey.digest.encode([(3, -2), (4, -2), (5, -2)])
    assert data.hex() == "c50100000003fffffffe000303"
    cells = covey.digest.decode(data)
    assert cells.dtype == np.int32 and cells.tolist() == [[3, -2], [4, -2], [5, -2]]
    assert covey.digest.encode(cells) == data
    with pytest.raises(ValueError, match="cells"):
        covey.digest.encode([1, 2])
    with pytest.raises(ValueError, match="data"):
        covey.digest.decode(b"nothing")


def test_messages_are_made_and_read(binary: Path) -> None:
    cam = covey.messages.encode_cam(4711, 35.59, 139.66, speed_m_s=13.9, heading_deg=90, length_m=4.5, cells=[(3, -2), (4, -2)])
    decoded = covey.messages.decode(cam)
    assert decoded["type"] == "cam" and decoded["station_id"] == 4711 and decoded["speed_m_s"] == 13.9
    assert decoded["digest"]["cells"] == [[3, -2], [4, -2]]
    frame = covey.messages.encode_cam(4711, 35.59, 139.66, frame=True, unix_ms=1_700_000_000_000)
    told = subprocess.run([binary, "messages", "decode", frame.hex()], check=True, capture_output=True, text=True)
    assert covey.messages.decode(frame) == json.loads(told.stdout)
    assert covey.messages.decode(frame.hex())["port"] == 2001
    for wrong, text in [({"latitude": 91.0}, "latitude"), ({"speed_m_s": -1.0}, "speed_m_s: found -1")]:
        with pytest.raises(ValueError, match=text):
            covey.messages.encode_cam(**{"station_id": 1, "latitude": 0.0, "longitude": 0.0, **wrong})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="data"):
        covey.messages.decode("xyz")


def test_captures_are_read(binary: Path, tmp_path: Path) -> None:
    file = ROOT / "examples/messages.pcap"
    told = subprocess.run([binary, "messages", "decode", file], check=True, capture_output=True, text=True)
    assert covey.messages.read_capture(file) == [json.loads(line) for line in told.stdout.splitlines()]
    wrong = tmp_path / "no.pcap"
    wrong.write_bytes(b"nothing of the kind, but long enough for a head")
    with pytest.raises(ValueError, match="no.pcap"):
        covey.messages.read_capture(wrong)


def test_recordings_hold_steps_cycles_and_decisions(junction: Path, tmp_path: Path) -> None:
    covey.run(junction, ["cam-only", "proposed@0.03"], [1], warmup_s=2, measure_s=4, record=True, out=tmp_path, progress=False)
    (recording,) = covey.recordings(tmp_path)
    assert recording.arms == ["cam-only", "proposed@0.03"] and recording.seed == 1
    steps = list(recording.steps())
    assert len(steps) == recording.manifest["steps"] and len(steps[0][1]["id"]) == len(steps[0][1]["x"]) > 5
    rows = list(recording.cycles("proposed@0.03"))
    curve = recording.curve("proposed@0.03")
    assert sum(row["missed"] for row in rows) == sum(curve["missed"])
    cycle, host = next(iter(recording.deciders("proposed@0.03")))
    decision = recording.decide("proposed@0.03", cycle, host)
    assert decision["host"] == host
    with pytest.raises(ValueError, match="expected one of"):
        list(recording.cycles("none"))
    with pytest.raises(ValueError, match="decided nothing"):
        recording.decide("proposed@0.03", cycle, 10**9)
    with pytest.raises(ValueError, match="messages.pcap"):
        covey.Recording(ROOT / "examples/messages.pcap")


def test_the_viewer_serves_until_it_is_closed() -> None:
    with covey.view(ROOT / "examples/blind-junction") as viewer:
        with urllib.request.urlopen(viewer.url + "api/recordings") as answer:
            listed = json.load(answer)
        assert listed and listed[0]["arms"]
        assert viewer.url in viewer._repr_html_()
        port = int(viewer.url.rstrip("/").rsplit(":", 1)[1])
    assert not viewer.is_open and "closed" in viewer._repr_html_()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    with pytest.raises(ValueError, match="nowhere"):
        covey.view("nowhere")


def test_arms_are_listed() -> None:
    arms = covey.arms()
    assert "proposed@B" in arms and "cam-only" in arms and all(arms.values())
