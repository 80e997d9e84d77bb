"""A real Slurm of two nodes on this machine, for the tests of this folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "scontrol")


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which ``srun`` finds it. Under CI nothing is skipped."""
    path = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"there is no Slurm here ({missing[0]}): sh scripts/system-packages slurm")
    state = tmp_path_factory.mktemp("slurm")
    try:
        subprocess.run([HERE / "up", state], check=True, timeout=60)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MASTER_", "SLURM_"))}
        pkg = str(HERE.parents[1] / "pkg")
        yield {**clean, "PATH": path, "PYTHONPATH": pkg, "SLURM_CONF": str(state / "slurm.conf")}
    finally:
        subprocess.run([HERE / "down", state], check=True, timeout=60)
