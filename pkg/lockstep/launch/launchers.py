"""Who has started this process as a rank, by the environment: torchrun, srun, mpirun, horovodrun, or a person."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from lockstep.errors import UsageError

# launcher: rank, world size, local rank, local world size, and what names the job on its node
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
PORT = "29500"


@dataclass(frozen=True)
class Environment:
    """This process's place among the ranks that ``launcher`` has started."""

    launcher: str
    rank: int
    world_size: int
    local_rank: int
    local_world_size: int
    job: str = ""  # the same for all ranks of a node, different for every start
    master: str = ""  # the address of rank 0; "" when all ranks are on this node
    port: str = PORT

    def install(self) -> None:
        """Set the names that torch programs read."""
        os.environ.update(RANK=str(self.rank), WORLD_SIZE=str(self.world_size), LOCAL_RANK=str(self.local_rank))
        os.environ["LOCAL_WORLD_SIZE"] = str(self.local_world_size)
        if self.master:
            os.environ.update(MASTER_ADDR=self.master, MASTER_PORT=self.port)


def detect(env: Mapping[str, str] | None = None) -> Environment | None:
    """None outside a launcher. A notebook inside an allocation of Slurm is no rank: SLURM_PROCID counts with
    SLURM_STEP_ID only, and a step of one task (``srun --pty jupyter lab``) has nobody to talk to."""
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
        master = env.get("MASTER_ADDR") or (first_host(env, launcher) if local < world else "")
        port = env.get("MASTER_PORT", PORT)
        return Environment(launcher, int(env[rank]), world, int(env.get(local_rank, "0")), local, name, master, port)
    return None


def tasks_here(env: Mapping[str, str], world: int) -> int:
    """Slurm's tasks on this node: SLURM_STEP_TASKS_PER_NODE is a list such as "4(x2),3"."""
    told = env.get("SLURM_STEP_TASKS_PER_NODE") or env.get("SLURM_TASKS_PER_NODE", "")
    counts: list[int] = []
    for tasks, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", told):
        counts += [int(tasks)] * int(times or 1)
    node = int(env.get("SLURM_NODEID", "0"))
    return counts[node] if node < len(counts) else world


def first_host(env: Mapping[str, str], launcher: str) -> str:
    """The node of rank 0, which the others must find."""
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST", "")
    if launcher == "srun" and nodes:
        if shutil.which("scontrol"):
            told = subprocess.run(["scontrol", "show", "hostnames", nodes], capture_output=True, text=True, check=False)
            if told.stdout.split():
                return told.stdout.split()[0]
        if "[" not in nodes:
            return nodes.split(",")[0]
    raise UsageError(
        f"{launcher} has started ranks on several nodes, and they do not know where rank 0 is.",
        "Set MASTER_ADDR to the name of the first node for all ranks (mpirun: -x MASTER_ADDR=NAME).",
    )
