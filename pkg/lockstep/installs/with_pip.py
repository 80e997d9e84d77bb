"""pip, and the versions that it is held to."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path


def pip(command: str) -> list[str]:
    """The beginning of a pip command, for this environment."""
    return [sys.executable, "-m", "pip", command, "--disable-pip-version-check"]


def pip_for(python: Path, command: str) -> list[str]:
    """The same for the environment of another interpreter, which needs no pip of its own."""
    return [sys.executable, "-m", "pip", "--python", str(python), command, "--disable-pip-version-check"]


def chosen() -> list[str]:
    """$PIP_ARGS, as `make` takes it."""
    return shlex.split(os.environ.get("PIP_ARGS", ""))


def pip_arguments() -> list[str]:
    """$PIP_ARGS, and a clone's constraints.txt."""
    constraints = Path(__file__).parents[3] / "constraints.txt"
    held = ["--constraint", str(constraints)] if constraints.exists() else []
    return [*held, *chosen()]
