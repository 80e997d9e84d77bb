"""docker/compose.yaml of a clone, as docker-compose reads it. No engine is needed for that."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from house import need

SETTINGS = {"LOCKSTEP_INSTRUCTORS": "teacher"}  # what has no default


def compose(clone: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    need(shutil.which("docker-compose") is not None, "there is no docker-compose here: sh scripts/system-packages hub")
    command = ["docker-compose", "--file", str(clone / "docker/compose.yaml"), "config"]
    env = {"PATH": os.environ["PATH"], **settings}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def read(clone: Path) -> dict[str, Any]:
    done = compose(clone, SETTINGS)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = yaml.safe_load(done.stdout)
    return found
