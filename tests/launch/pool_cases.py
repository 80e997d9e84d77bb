"""Functions for the tests of the pool."""

import dataclasses
import os
import random
import sys
import threading
import warnings

import numpy
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

from lockstep.virtual import supervisor


@dataclasses.dataclass
class Pair:
    left: int
    right: torch.Tensor


def environment():
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
    return [int(os.environ[n]) for n in names], dist.get_rank(), dist.get_world_size(), dist.get_backend()


def draw():
    return torch.rand(1).item(), float(numpy.random.rand()), random.random()


def change(tensor, table):
    tensor += dist.get_rank() + 1
    table["rank"] = dist.get_rank()
    return tensor, table


def several_kinds():
    big = torch.ones(1000, 1000)
    weight = torch.nn.Parameter(torch.ones(2))
    return {
        "view": big[0, :3],
        "history": (weight * 2).sum(),
        "pair": Pair(dist.get_rank(), torch.arange(3)),
        "functional": functional.all_reduce(torch.ones(2), "sum", dist.group.WORLD),
        "bfloat": torch.ones(2, dtype=torch.bfloat16),
        "sparse": torch.eye(2).to_sparse(),
    }


def objects_of_my_own():
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, Pair(dist.get_rank(), torch.ones(1)))
    return [p.left for p in everyone]


def talk(rounds=2):
    for i in range(rounds):
        print(f"round {i} of {dist.get_rank()}")
    print("to stderr", file=sys.stderr)
    print("no end", end="")


def print_much(characters):
    line = "x" * 99 + "\n"
    for _ in range(characters // 100):
        sys.stdout.write(line)
    return "done"


def print_one_long_line(characters):
    print("y" * characters)
    return "done"


def write_below_python():
    os.write(1, b"from C\n")
    os.write(2, b"from C\n")
    os.system("echo from a shell")


def warn():
    warnings.warn("mine", stacklevel=1)
    dist.all_gather_into_tensor(torch.ones(dist.get_world_size()), torch.ones(1))


def threads_of_torch():
    return torch.get_num_threads(), threading.active_count()


def memory():
    x = torch.ones(1000)
    y = x.view(10, 100)
    del x
    z = y + 1
    del y
    return z.sum().item()


def nothing():
    return None


def forks():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "ok"


def send_large(megabytes):
    x = torch.ones(megabytes * 250_000)
    if dist.get_rank() == 0:
        dist.send(x, 1)
    elif dist.get_rank() == 1:
        dist.recv(x, 0)
    return x


def process():
    return os.getpid()


def mark():
    """Whether an earlier run was here: by a module's attribute, a message too many, a variable, a file."""
    found = hasattr(dist, "was_here") or "WAS_HERE" in os.environ
    dist.was_here = True
    os.environ["WAS_HERE"] = "yes"
    return found


def state():
    """What may tell a spare from a fresh fork."""
    return {
        "random": (torch.rand(1).item(), float(numpy.random.rand()), random.random()),
        "torch": (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()),
        "threads": threading.active_count(),
        # MASTER_PORT is a free one for each run
        "environment": {k: v for k, v in os.environ.items() if k not in ("FRUIT", "MASTER_PORT")},
        "modules": {m for m in sys.modules if not m.startswith("lockstep.")},
        "path": (sys.path, os.getcwd()),
        "warnings": len(warnings.filters),
        "group": (dist.get_backend(), dist.group.WORLD.group_name, type(vars(dist.ProcessGroup)["allreduce"])),
        "main": sorted(vars(sys.modules["__main__"])),
    }


def total():
    x = torch.full((1,), float(dist.get_rank()))
    dist.all_reduce(x)
    dist.group.WORLD.allreduce([torch.ones(1)]).wait()
    return x.item()


def variable(name):
    return os.environ.get(name)


def whereabouts():
    return os.getcwd(), sys.path[0]


def leaves():
    if dist.get_rank() == 0:
        os._exit(3)
    dist.barrier()


def cores():
    return len(os.sched_getaffinity(0))


def move_the_cluster(allowed):
    """On the virtual cluster: others have starved it, and it moves to another core."""
    here = os.sched_getaffinity(0)
    supervisor.better_core = lambda *_: min(allowed - here)  # of this process, that ends with the run
    while os.sched_getaffinity(0) == here:
        pass
