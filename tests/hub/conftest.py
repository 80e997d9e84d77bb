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
from house import HUB, NO_HUB, ROOT, House, need

sys.path.append(str(Path(__file__).parents[1] / "browser"))  # its harness: what a person does in JupyterLab


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    need(os.geteuid() == 0 and sys.platform == "linux", "only root of a Linux can give servers to other users")
    need(shutil.which("bwrap") is not None, "there is no bubblewrap here: sh scripts/system-packages hub")
    need((HUB / "bin/jupyterhub").exists(), NO_HUB)
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
