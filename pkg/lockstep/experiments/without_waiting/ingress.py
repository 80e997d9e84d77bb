"""The server's port is the bottleneck: the more workers, the longer each waits for it; an all-reduce has no such port.

Each number is counted in a run on the virtual cluster, and compared with the formula of ``cost.data_parallel``. The
parameters are 40 kB, which take 4 ms on a link of 10 MB/s (nearly Fast Ethernet); a gradient takes 40 ms of computing.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cache

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.cost.data_parallel import all_reduce_step_seconds, served_seconds
from lockstep.machines import alpha_beta
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.without_waiting.parameter_server import several_servers
from lockstep.worlds import run

NUMEL, COMPUTE = 10_000, 40e-3  # float32 parameters; seconds of a gradient
NBYTES = 4 * NUMEL
ALPHA, BETA = 25e-6, 1e-7
CLUSTER = alpha_beta(ALPHA, BETA)
WORKERS = (2, 8, 16, 64)
SERVERS = (1, 4)
STEPS = 3  # of each worker; the first one is not counted


@dataclass(frozen=True)
class Step:
    """Seconds in which each worker does one step, as counted in a run and by the formula. Without servers the workers
    all-reduce their gradients."""

    workers: int
    servers: int
    seconds: float
    formula: float


@cache
def step_of(workers: int, servers: int) -> Step:
    """Run a few steps; the time between worker 0's messages at rank 0."""
    if servers:
        trace = run(_serve, servers, ranks=workers + servers, on=CLUSTER).trace
        done = [e.end for e in trace.of_rank(0) if e.kind == "recv" and e.peer == servers]
        formula = served_seconds(workers, servers, NBYTES, COMPUTE, ALPHA, BETA)
    else:
        trace = run(_all_reduce, ranks=workers, on=CLUSTER).trace
        done = [e.end for e in trace.of_rank(0) if e.kind == "all_reduce"]
        formula = all_reduce_step_seconds(workers, NBYTES, COMPUTE, CLUSTER)
    return Step(workers, servers, (done[-1] - done[0]) / (len(done) - 1), formula)


def measured() -> list[Step]:
    """The step for each of WORKERS, with each of SERVERS and with all-reduces."""
    return [step_of(K, S) for K, S in counted([(K, S) for S in (*SERVERS, 0) for K in WORKERS], "Running")]


def gradients_per_second(workers: int, servers: int = 1) -> float:
    """Gradients a second of all workers together, asynchronously; without servers by all-reduces."""
    return workers / step_of(workers, servers).seconds


def ingress_table() -> Table:
    """Milliseconds in which each worker does one step, with one server, with several, and with all-reduces."""
    told = {(s.workers, s.servers): f"{1e3 * s.seconds:.0f} ({1e3 * s.formula:.0f})" for s in measured()}
    rows = [[str(K), *(told[K, S] for S in (*SERVERS, 0))] for K in WORKERS]
    head = ["workers", *(f"{S} server{'s' if S > 1 else ''}" for S in SERVERS), "all-reduce"]
    return Table("ms in which each worker does one step: in a run (by the formula)", head, rows)


def gradient(w: Tensor, step: int) -> Tensor:
    """A gradient of zeros that only takes its time."""
    time.sleep(COMPUTE)  # virtual seconds
    return torch.ones_like(w)


def _serve(servers: int) -> None:
    steps = None if dist.get_rank() < servers else STEPS
    several_servers(gradient, torch.zeros(NUMEL), steps, 0.1, math.inf, servers)


def _all_reduce() -> None:
    for step in range(STEPS):
        dist.all_reduce(gradient(torch.zeros(NUMEL), step))
