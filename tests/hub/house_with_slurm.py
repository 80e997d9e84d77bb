"""The same machine with a Slurm of two nodes, which knows its users; and the hub whose servers are jobs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from house import ROOT, House

SLURM = ROOT / "tests" / "slurm"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
NODES = ("node1", "node2")
START = f'"{SLURM}/up" "$0" 2 4 && exec "$@"'


class SlurmHouse(House):
    """Slurm's nodes have names, as on a cluster: those of /etc/hosts."""

    def __init__(self, at: Path) -> None:
        super().__init__(at)
        self.slurm = at / "slurm"
        lines = "".join(f"127.0.0.1 {name}\n" for name in NODES)
        (at / "hosts").write_text(Path("/etc/hosts").read_text() + lines)

    def inside(self, *command: str) -> list[str]:
        words = super().inside(*command)
        hosts = ["--ro-bind", str(self.at / "hosts"), "/etc/hosts"]
        return [*words[: -len(command)], *hosts, *command]

    def _hub(self) -> list[str]:
        hub = super()._hub()
        wrapped = len(self.inside("x")) - 1
        return self.inside("/bin/sh", "-c", START, str(self.slurm), *hub[wrapped:])

    def _environment(self) -> dict[str, str]:
        return super()._environment() | {"SLURM_CONF": str(self.slurm / "slurm.conf")}

    def _settings(self) -> Mapping[str, str]:
        mine = {
            "LOCKSTEP_SPAWNER": "slurm",
            "LOCKSTEP_HUB_IP": "127.0.0.1",
            "LOCKSTEP_MEMORY": "800M",
            "LOCKSTEP_SLURM_TIME": "30",
            "LOCKSTEP_SLURM_PARTITION": "all",
        }
        return {**super()._settings(), **mine}

    def jobs(self) -> list[list[str]]:
        """What squeue says: user, state, cores, limit of minutes and seconds, node."""
        asked = self.inside("squeue", "--noheader", "--format=%u %T %C %l %N")
        done = subprocess.run(asked, env=self._environment(), capture_output=True, text=True, check=True, timeout=60)
        return [line.split() for line in done.stdout.splitlines()]

    @staticmethod
    def missing() -> str:
        path = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
        return next((name for name in PROGRAMS if not shutil.which(name, path=path)), "")
