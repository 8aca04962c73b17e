"""The package is typed."""

import subprocess
import sys

from conftest import ROOT


def test_the_package_and_its_example_are_typed() -> None:
    call = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--allow-any-generics", "python/covey", "python/examples"]
    found = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
