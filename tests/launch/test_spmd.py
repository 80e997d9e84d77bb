"""One file under torchrun, mpirun and an emulated srun: the values and counts of processes of this machine."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import spmd_program
import torch

from lockstep.errors import UsageError
from lockstep.launch import group
from lockstep.launch.job import Job
from lockstep.launch.launchers import Environment, detect
from lockstep.launch.pool import run_processes

BESIDE = Path(__file__).resolve().parent
PROGRAM = str(BESIDE / "spmd_program.py")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl_vader_single_copy_mechanism", "none"]


def environment(**more):
    path = os.pathsep.join([str(BESIDE), str(BESIDE.parents[1] / "pkg")])
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "LOCAL_RANK")}
    return {**clean, "PYTHONPATH": path, **more}


def torchrun(directory, *more):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAM]
    start([*command, str(directory), *more])


def mpirun(directory, *more):
    start([*MPIRUN, "-n", "2", sys.executable, PROGRAM, str(directory), *more])


def srun(directory, *more):
    """What srun sets, for two tasks on one node."""
    job = {"SLURM_JOB_ID": f"{os.getpid()}", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2", "SLURM_NODEID": "0"}
    job["SLURM_STEP_TASKS_PER_NODE"] = "2"
    tasks = [
        subprocess.Popen(
            [sys.executable, PROGRAM, str(directory), *more],
            env=environment(**job, SLURM_PROCID=str(r), SLURM_LOCALID=str(r)),
        )
        for r in range(2)
    ]
    assert [t.wait(120) for t in tasks] == [0, 0]


def start(command):
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]


def told(directory):
    return [json.loads(Path(directory, f"rank-{r}.json").read_text()) for r in range(2)]


@pytest.mark.parametrize("launcher", [torchrun, mpirun, srun])
def test_a_launcher_gives_what_processes_give(launcher, tmp_path):
    if launcher is mpirun and not shutil.which("mpirun"):
        pytest.skip("no mpirun here")
    launcher(tmp_path)
    here = run_processes(Job.pack(spmd_program.ring, (torch.arange(3.0),), {}, 2))
    for rank, one in enumerate(told(tmp_path)):
        assert one["launcher"] == launcher.__name__
        assert one["world"] == "spmd"
        assert one["values"] == json.loads(json.dumps(here.values))
        assert one["counts"] == [[r, k, *c] for (r, k), c in here.trace.counts().items()]
        assert one["matched"] == [0, 1]
        assert one["printed"] == f"[rank {rank}] ring of {rank}\n"
        assert one["places"] == [[[r, 2, r, 2], r] for r in range(2)]


def test_every_rank_raises_the_same_error_and_goes_on(tmp_path):
    torchrun(tmp_path, "--fail")
    for one in told(tmp_path):
        assert one["error"] == ["RankRaised", "rank 1 raised ValueError: on one rank", ["waiting", "raised"]]
        assert one["after"]
        assert one["soon"]
        assert one["deadlock"][0] == "Deadlock"
        assert one["deadlock"][2] == ["waiting", "waiting"]
        assert one["after that"]


TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "head"}
OPENMPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "PMIX_NAMESPACE": "host-17",
}
HOROVOD = {"HOROVOD_RANK": "0", "HOROVOD_SIZE": "4", "HOROVOD_LOCAL_RANK": "0", "HOROVOD_LOCAL_SIZE": "4"}
SLURM = {"SLURM_PROCID": "5", "SLURM_NTASKS": "7", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "9"}
STEP = {
    **SLURM,
    "SLURM_STEP_ID": "2",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),3",
    "SLURM_NODEID": "2",
    "SLURM_STEP_NODELIST": "node7,node8,node9",
}


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({}, None),
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
        (TORCHRUN, Environment("torchrun", 3, 8, 1, 2, "", "head", "29500")),
        (TORCHRUN | {"MASTER_PORT": "1234"}, Environment("torchrun", 3, 8, 1, 2, "", "head", "1234")),
        (OPENMPI, Environment("mpirun", 1, 2, 1, 2, "-host-17")),
        (HOROVOD, Environment("horovodrun", 0, 4, 0, 4)),
        (SLURM, None),
        (STEP | {"SLURM_NTASKS": "1"}, None),
        (STEP, Environment("srun", 5, 7, 1, 3, "9-2", "node7")),
    ],
)
def test_detect(env, found, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert detect(env) == found


def test_several_nodes_must_know_where_rank_0_is():
    with pytest.raises(UsageError, match="Set MASTER_ADDR"):
        detect(OPENMPI | {"OMPI_COMM_WORLD_SIZE": "4"})
    assert detect(OPENMPI | {"OMPI_COMM_WORLD_SIZE": "4", "MASTER_ADDR": "head"}).master == "head"


def test_looking_for_connections_opens_nothing():
    """It left one file open for each that is no socket, and twice as many the next time: after a few runs that failed,
    a rank under torchrun could open no file any more."""
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        group.sockets()
    assert len(os.listdir("/dev/fd")) == before


def test_connections_are_found():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as mine:
        found = group.sockets()
        assert mine.fileno() in found
        assert server.fileno() not in found
