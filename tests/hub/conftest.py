"""The project's own JupyterHub on loopback, with real Linux users, and windows of Chromium on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import HUB, ROOT, House

sys.path.append(str(Path(__file__).parents[1] / "browser"))  # its harness: what a person does in JupyterLab


def missing() -> str:
    """What this machine lacks, with its remedy."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        return "only root of a Linux can give servers to other users"
    if not shutil.which("bwrap"):
        return "there is no bubblewrap here: sh scripts/system-packages hub"
    if not (HUB / "bin/jupyterhub").exists():
        return "there is no JupyterHub here: sh scripts/system-packages hub && sh scripts/hub"
    return ""


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """Under CI nothing is skipped."""
    if reason := missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with tempfile.TemporaryDirectory(prefix="lockstep-hub-") as at:
        house = House(Path(at))
        hub = house.start()
        try:
            yield house
        finally:
            hub.terminate()
            try:
                hub.wait(30)
            except subprocess.TimeoutExpired:
                hub.kill()
                hub.wait()
            shots = ROOT / "tests" / "screenshots"
            shots.mkdir(exist_ok=True)
            shutil.copy(house.log, shots / "hub.log")
