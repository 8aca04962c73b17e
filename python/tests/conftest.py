"""What the tests share: the repository, the program, small worlds."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JUNCTION = ROOT / "scenarios/toy/blind-junction/scenario.toml"


@pytest.fixture(scope="session")
def binary() -> Path:
    """The program `covey`: COVEY_BINARY, or where cargo puts it, built if need be."""
    if "COVEY_BINARY" in os.environ:
        return Path(os.environ["COVEY_BINARY"])
    built = subprocess.run(
        ["cargo", "build", "--quiet", "--bin", "covey", "--message-format", "json"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable"):
            return Path(message["executable"])
    raise AssertionError("cargo named no program")


@pytest.fixture
def junction() -> Path:
    """A junction with two dozen vehicles."""
    return JUNCTION
