"""Launcher detection from environment variables: torchrun, srun, mpirun, mpiexec, horovodrun, or none; and the address
of rank 0.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from zlib import crc32

from lockstep.errors import UsageError

# launcher: rank, world size, local rank, local world size, and variables that identify the job on its node
VARIABLES = {
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", ("TORCHELASTIC_RUN_ID",)),
    "horovodrun": (
        "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE", ("HOROVOD_GLOO_RENDEZVOUS_PORT",),
    ),
    "mpirun": (
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
        ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid"),
    ),
    "mpiexec": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ("PMI_ID", "PMI_FD", "PMI_PORT")),
    "srun": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", ("SLURM_STEP_ID",)),
}  # fmt: skip
NAMED_ALIKE = ("srun", "mpirun", "horovodrun")  # launchers whose jobs have the same id on all nodes
PORT = 29500  # torch's default, for a job without an id
PORTS = range(20_000, 32_768)  # below Linux's range of ephemeral ports


@dataclass(frozen=True)
class Environment:
    """This process's rank, as started by ``launcher``."""

    launcher: str
    rank: int
    world_size: int
    local_rank: int
    local_world_size: int
    job: str = ""  # an id: the same for all ranks of a node, different for every job
    master: str = ""  # the address of rank 0, if known; "" if all ranks are on this node
    port: str = str(PORT)
    nodes: str = ""  # Slurm's list of the step's nodes: "node[1-2]"

    def reaching_rank_0(self) -> Environment:
        """This environment with an address of rank 0 that resolves here. Raises UsageError at once if there is none,
        since connecting to a name that does not resolve would be retried for minutes."""
        if self.master:
            known = [self.master]
        elif self.local_world_size == self.world_size:
            return self
        else:
            known = list(addresses(first_node(self.nodes))) if self.launcher == "srun" and self.nodes else []
        if found := next(filter(resolves, known), ""):
            return replace(self, master=found)
        raise unknown_address(self.launcher, known)

    def install(self) -> None:
        """Set the environment variables that torch programs read."""
        os.environ.update(RANK=str(self.rank), WORLD_SIZE=str(self.world_size), LOCAL_RANK=str(self.local_rank))
        os.environ["LOCAL_WORLD_SIZE"] = str(self.local_world_size)
        if self.master:
            os.environ.update(MASTER_ADDR=self.master, MASTER_PORT=self.port)


def detect(env: Mapping[str, str] | None = None) -> Environment | None:
    """The environment of a launcher, or None. A notebook inside a Slurm allocation is no rank: SLURM_PROCID is used
    with SLURM_STEP_ID only, and a step of one task (``srun --pty jupyter lab``) is ignored."""
    env = os.environ if env is None else env
    for launcher, (rank, size, local_rank, local_size, job) in VARIABLES.items():
        if rank not in env or size not in env:
            continue
        if launcher == "srun" and ("SLURM_STEP_ID" not in env or env[size] == "1"):
            continue
        if launcher == "torchrun" and "MASTER_ADDR" not in env:
            continue
        world = int(env[size])
        local = int(env[local_size]) if local_size in env else tasks_here(env, world)
        name = "-".join([env.get("SLURM_JOB_ID", ""), *(env[j] for j in job if j in env)])
        port = env.get("MASTER_PORT") or str(port_of(name) if launcher in NAMED_ALIKE else PORT)
        nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST", "")
        place = int(env[rank]), world, int(env.get(local_rank, "0")), local
        return Environment(launcher, *place, name, env.get("MASTER_ADDR", ""), port, nodes)
    return None


def port_of(job: str) -> int:
    """A port for rank 0 of ``job``: the same on every rank, and different for two jobs on one node."""
    return PORTS[crc32(job.encode()) % len(PORTS)]


def tasks_here(env: Mapping[str, str], world: int) -> int:
    """The number of Slurm tasks on this node, from a list such as "4(x2),3" in SLURM_STEP_TASKS_PER_NODE."""
    told = env.get("SLURM_STEP_TASKS_PER_NODE") or env.get("SLURM_TASKS_PER_NODE", "")
    counts: list[int] = []
    for tasks, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", told):
        counts += [int(tasks)] * int(times or 1)
    node = int(env.get("SLURM_NODEID", "0"))
    return counts[node] if node < len(counts) else world


def first_node(nodes: str) -> str:
    """The node of task 0, from Slurm's list: "rack1node07" from "rack[1-2]node[07-09,12],login"."""
    return re.sub(r"\[(\d+)[^]]*\]", r"\1", nodes).partition(",")[0]


def addresses(node: str) -> Iterator[str]:
    """Possible addresses of a Slurm node: NodeAddr, which Slurm's daemons use (often an IP address; the name need not
    resolve), the hostname, and the node's name."""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["scontrol", "--oneliner", "show", "node", node]
        told = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
        facts = dict(word.split("=", 1) for word in told.split() if "=" in word)
        yield from (facts[key] for key in ("NodeAddr", "NodeHostName") if key in facts)
    yield node


def resolves(name: str) -> bool:
    """Whether ``name`` is an IP address or resolves to one."""
    try:
        return bool(socket.getaddrinfo(name, None))
    except (OSError, UnicodeError):
        return False


def unknown_address(launcher: str, tried: list[str]) -> UsageError:
    if tried:
        names = " and ".join(dict.fromkeys(tried))
        told = f"The node of rank 0 cannot be found from {socket.gethostname()}: no address is known for {names}."
    else:
        told = f"{launcher} has started ranks on several nodes, and they do not know where rank 0 is."
    return UsageError(
        told,
        "Set MASTER_ADDR to the first node's IP address, or to a name that resolves on every node, for all ranks "
        "(mpirun: -x MASTER_ADDR=ADDRESS).",
    )
