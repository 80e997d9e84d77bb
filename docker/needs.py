"""Prints what Lockstep needs beside torch, a requirement a line: of itself and of the extras that are named.

    python needs.py course dask hub

An image installs torch first and these next, and Lockstep last, so that a new lesson costs no new download."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["project"]
extras = [one for extra in sys.argv[1:] for one in project["optional-dependencies"][extra]]
print("\n".join(one for one in project["dependencies"] + extras if not one.startswith("torch")))
