"""``srun lockstep check`` on a real Slurm of two nodes, whose names resolve nowhere (`up`, `slurm.conf.in`)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from torch.distributed import TCPStore

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("slurm")]

RIGHT = Path(__file__).parents[2] / "pkg/lockstep/exercises/communication/ring_all_reduce/right/even_and_odd.py"
WRONG = "def ring_all_reduce(tensor, group=None):\n    return tensor\n"
CHECK = (sys.executable, "-m", "lockstep", "check", "communication.ring_all_reduce")
KEEP_CODE = '"$@"; code=$?; echo $code > "$CODES/$SLURM_PROCID"; exit $code'
TWO_NODES = ("--nodes", "2", "--ntasks-per-node", "2")


class Step(NamedTuple):
    """What became of a step of a job."""

    codes: list[int]  # the exit code of each rank
    stdout: str
    stderr: str

    @property
    def told(self) -> str:
        return self.stdout + self.stderr

    @property
    def verdict(self) -> str:
        return str(json.loads(self.stdout)["verdict"])


class Running:
    """``srun`` of a check, on its way."""

    def __init__(self, env: dict[str, str], folder: Path, where: Sequence[str], answer: Path) -> None:
        self._codes = folder
        folder.mkdir()
        env = {**env, "CODES": str(folder), "LOCKSTEP_HOME": str(folder / "home")}
        command = ["srun", *where, "/bin/sh", "-c", KEEP_CODE, "sh", *CHECK, str(answer), "--json"]
        pipe = subprocess.PIPE
        self._srun = subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)

    def end(self) -> Step:
        out, err = self._srun.communicate(timeout=200)
        codes = {int(f.name): int(f.read_text()) for f in self._codes.iterdir() if f.name.isdigit()}
        assert self._srun.returncode == max(codes.values()), err
        return Step([codes[rank] for rank in sorted(codes)], out, err)


def test_a_right_answer_on_two_nodes(slurm: dict[str, str], tmp_path: Path) -> None:
    """The nodes' names do not resolve: this waited for more than two minutes, and ended without a verdict."""
    done = Running(slurm, tmp_path / "job", TWO_NODES, RIGHT).end()
    assert done.codes == [0] * 4, done.told
    assert done.verdict == "passed", done.told


def test_a_wrong_answer_is_wrong_on_every_rank(slurm: dict[str, str], tmp_path: Path) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text(WRONG)
    done = Running(slurm, tmp_path / "job", TWO_NODES, answer).end()
    assert done.codes == [1] * 4, done.told
    assert done.verdict == "wrong", done.told


def test_two_jobs_at_once_on_the_same_nodes(slurm: dict[str, str], tmp_path: Path) -> None:
    """Both met at port 29500. The ranks of one joined the other's, which said "Right" for a group of both."""
    where = ("--nodes", "2", "--ntasks-per-node", "1")
    jobs = [Running(slurm, tmp_path / name, where, RIGHT) for name in ("one", "two")]
    for job in jobs:
        done = job.end()
        assert done.codes == [0, 0], done.told
        assert done.verdict == "passed", done.told


def test_where_the_port_is_taken_every_rank_says_so(slurm: dict[str, str], tmp_path: Path) -> None:
    """Rank 0 cannot serve, and the others reach another job's store. None of them may come to a verdict there."""
    stranger = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=5))
    env = {**slurm, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(stranger.port)}
    where = ("--nodes", "2", "--ntasks-per-node", "1")
    done = Running(env, tmp_path / "job", where, RIGHT).end()
    assert done.codes == [3, 3], done.told
    assert done.verdict == "ungraded", done.told
    assert "did not meet at 127.0.0.1" in done.stdout


def test_an_address_that_nobody_knows_is_told_at_once(slurm: dict[str, str], tmp_path: Path) -> None:
    """Without scontrol there is only the node's name. Ranks tried to reach it for minutes."""
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "srun").symlink_to(str(shutil.which("srun", path=slurm["PATH"])))
    env = {**slurm, "PATH": str(bare)}
    done = Running(env, tmp_path / "job", TWO_NODES, RIGHT).end()
    assert done.codes == [2] * 4, done.told
    assert "no address is known for node1.\nSet MASTER_ADDR" in done.stderr
