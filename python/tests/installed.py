"""Says whether all that a file of requirements lists is there, in the versions that it lists."""

import importlib.metadata
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    line = line.split("#")[0].strip()
    if line:
        name, version = line.split("==")
        found = importlib.metadata.version(name)
        if found != version:
            raise SystemExit(f"{name}: found {found}, expected {version}")
print("all are there")
