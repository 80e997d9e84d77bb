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
from lockstep.launch import joining
from lockstep.launch.job import Job
from lockstep.launch.processes import run_processes
from lockstep.launchers.detection import Environment, detect, first_node, port_of

BESIDE = Path(__file__).resolve().parent
PROGRAM = str(BESIDE / "spmd_program.py")
LONGEST = 280  # seconds: with --fail 10 alone, 45 beside seven other programs
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
    assert [t.wait(LONGEST) for t in tasks] == [0, 0]


def start(command):
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == 0, done.stderr[-3000:]


def told(directory):
    return [json.loads(Path(directory, f"rank-{r}.json").read_text()) for r in range(2)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("launcher", [torchrun, mpirun, srun])
def test_a_launcher_gives_what_processes_give(launcher, tmp_path):
    if launcher is mpirun and not shutil.which("mpirun"):
        pytest.skip("needs mpirun: apt-get install openmpi-bin")
    launcher(tmp_path)
    here = run_processes(Job.pack(spmd_program.ring, (torch.arange(3.0),), {}, 2))
    for rank, one in enumerate(told(tmp_path)):
        assert one["launcher"] == launcher.__name__
        assert one["world"] == "spmd"
        assert not one["compiler"]
        assert one["values"] == json.loads(json.dumps(here.values))
        assert one["counts"] == [[r, k, *c] for (r, k), c in here.trace.counts().items()]
        assert one["matched"] == [0, 1]
        assert one["printed"] == f"[rank {rank}] ring of {rank}\n"
        assert one["places"] == [[[r, 2, r, 2], r] for r in range(2)]


@pytest.mark.slow
def test_every_rank_raises_the_same_error_and_goes_on(tmp_path):
    torchrun(tmp_path, "--fail")
    for one in told(tmp_path):
        differ = "Mismatch: ranks 0 and 1 called new_group with different ranks."
        assert one["groups"] == ["Mismatch", differ, ["computing", "computing"]]
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
        (OPENMPI, Environment("mpirun", 1, 2, 1, 2, "-host-17", port=str(port_of("-host-17")))),
        (HOROVOD, Environment("horovodrun", 0, 4, 0, 4, port=str(port_of("")))),
        (SLURM, None),
        (STEP | {"SLURM_NTASKS": "1"}, None),
        (STEP, Environment("srun", 5, 7, 1, 3, "9-2", "", str(port_of("9-2")), "node7,node8,node9")),
        (STEP | {"MASTER_PORT": "1234"}, Environment("srun", 5, 7, 1, 3, "9-2", "", "1234", "node7,node8,node9")),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, Environment("mpiexec", 1, 2, 0, 2)),
    ],
)
def test_detect(env, found):
    assert detect(env) == found


# ---- where rank 0 is

NODE = (
    "NodeName=node7 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUTot=4 Gres=(null) NodeAddr=127.0.0.7 NodeHostName=head "
    "Port=25859 Version=22.05.8 OS=Linux 6.1 #1 SMP PREEMPT_DYNAMIC @0  RealMemory=1000 State=IDLE Partitions=all "
)  # what Slurm 22.05 said


def scontrol(folder: Path, told: str) -> str:
    """A folder for PATH with a scontrol that says ``told`` when it is asked for node7, and fails otherwise."""
    program = folder / "scontrol"
    folder.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n[ \"$*\" = '--oneliner show node node7' ] && echo '{told}'\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_rank_0_is_where_slurm_itself_finds_its_node(tmp_path, monkeypatch):
    """A node's name need not resolve: ranks tried to reach it for more than two minutes."""
    monkeypatch.setenv("PATH", scontrol(tmp_path, NODE))
    assert detect(STEP).reaching_rank_0().master == "127.0.0.7"


def test_a_name_is_taken_where_it_resolves(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", scontrol(tmp_path, NODE.replace("127.0.0.7", "node7.invalid")))
    known = {"head": [()]}
    monkeypatch.setattr(socket, "getaddrinfo", lambda name, _: known.get(name) or no_such_name(name))
    assert detect(STEP).reaching_rank_0().master == "head"


def no_such_name(name):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("told", ["", NODE.replace("127.0.0.7", "node7").replace("head", "node7")])
def test_a_name_that_does_not_resolve_is_told_at_once(told, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", scontrol(tmp_path, told))
    monkeypatch.setattr(socket, "getaddrinfo", lambda name, _: no_such_name(name))
    with pytest.raises(UsageError, match=r"no address is known for node7\.\nSet MASTER_ADDR"):
        detect(STEP).reaching_rank_0()


def test_without_scontrol_the_nodes_name_is_taken(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert detect(STEP | {"SLURM_STEP_NODELIST": "localhost,other"}).reaching_rank_0().master == "localhost"


def test_a_given_address_must_resolve():
    given = STEP | {"MASTER_ADDR": "no-such-host.invalid"}
    with pytest.raises(UsageError, match=r"no address is known for no-such-host\.invalid"):
        detect(given).reaching_rank_0()
    assert detect(given | {"MASTER_ADDR": "127.0.0.1"}).reaching_rank_0().master == "127.0.0.1"


def test_several_nodes_must_know_where_rank_0_is():
    several = OPENMPI | {"OMPI_COMM_WORLD_SIZE": "4"}
    with pytest.raises(UsageError, match="Set MASTER_ADDR"):
        detect(several).reaching_rank_0()
    assert detect(several | {"MASTER_ADDR": "localhost"}).reaching_rank_0().master == "localhost"
    assert detect(OPENMPI).reaching_rank_0() == detect(OPENMPI)  # all on one node


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("node7", "node7"),
        ("a,b", "a"),
        ("node[07-09,12],x", "node07"),
        ("rack[1-2]node[3,5]", "rack1node3"),
        ("n[4]-ib", "n4-ib"),
    ],
)
def test_the_first_node_of_a_list(nodes, first):
    assert first_node(nodes) == first


def test_jobs_and_steps_have_ports_of_their_own():
    """All had 29500: of two jobs on one node, the ranks of one joined the other's."""
    steps = [f"{job}-{step}" for job in range(1000, 1020) for step in range(5)]
    ports = {port_of(step) for step in steps}
    assert len(ports) == len(steps)
    assert all(20_000 <= port < 32_768 for port in ports)
    assert port_of("9-2") == port_of("9-2")


def test_looking_for_connections_opens_nothing():
    """It left one file open for each that is no socket, and twice as many the next time: after a few runs that failed,
    a rank under torchrun could open no file any more."""
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        joining.sockets()
    assert len(os.listdir("/dev/fd")) == before


def test_connections_are_found():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as mine:
        found = joining.sockets()
        assert mine.fileno() in found
        assert server.fileno() not in found
