"""run() under a launcher: this process is a rank, and the same line of the same file runs on all of them.

The process group is joined by the first run() and kept until the process ends. What became of each rank is told to
all through the group's store, which still works when the group is broken: so every rank gets all values, or every
rank raises the same error.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed import FileStore, PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from lockstep.errors import RunError, UsageError, WorldUnavailable
from lockstep.events import Outcome
from lockstep.launch import joining
from lockstep.launch.job import Job
from lockstep.launchers.detection import Environment, detect
from lockstep.launchers.one_rank import PATIENCE, Part
from lockstep.launchers.outcomes import Exchange

__all__ = ["Environment", "detect", "run_spmd"]

MEETING = 60.0  # seconds that a rank waits for others to start
FAREWELL = 10.0  # seconds that rank 0 waits for others to end


def run_spmd(job: Job) -> Outcome:
    """Run ``job`` as the rank that this process is. Every rank gets all values; prints are its own."""
    environment = detect()
    if environment is None:
        raise UsageError("No launcher has started this process.", "Start it with torchrun --nproc-per-node 4 FILE.")
    return _membership.run(job.of_rank(environment.rank), environment)


class Membership:
    """This process's place in the group, over all calls of run()."""

    def __init__(self) -> None:
        self._environment: Environment | None = None  # as it was when this process joined
        self._store: Any = None
        self._joined = 0  # groups so far; 0 when the script has made its own
        self._timeout = 0.0
        self._runs = 0
        self._foreign: set[int] = set()  # connections that are not the group's

    def run(self, job: Job, environment: Environment) -> Outcome:
        environment = self._environment = self._environment or environment.reaching_rank_0()
        try:
            store = self._join(environment, job.timeout)
        except RuntimeError as error:  # DistError and its like
            raise not_met(environment, error) from None
        self._runs += 1
        exchange = Exchange(PrefixStore(f"run-{self._runs}", store), environment, job.timeout + PATIENCE)
        try:
            return Part(job, environment, exchange, self).outcome()
        except (RunError, WorldUnavailable):
            self.leave()  # messages of the broken run must not meet the next one
            raise

    def leave(self) -> None:
        if self._joined:
            joining.leave()
            self.hang_up()

    def hang_up(self) -> None:
        """Every operation of the group fails at once, here and on its other end; also while this rank waits in it."""
        if self._joined:
            joining.hang_up(joining.sockets() - self._foreign)

    def _join(self, environment: Environment, timeout: float) -> Any:
        environment.install()
        if self._store is None:
            self._store = meeting_store(environment)
            meet(self._store, environment)
            atexit.register(joining.leave_at_exit)
        if self._timeout != timeout:
            self.leave()
        if not dist.is_initialized():
            self._timeout = timeout
            if not environment.master:
                joining.use_loopback()
            joining.join(environment.rank, environment.world_size, timeout, self.new_store())
        return self._store

    def come_back(self, environment: Environment, timeout: float) -> None:
        """All ranks leave the group, and join it again: some have left it already."""
        joining.leave()
        self._join(environment, timeout)

    def new_store(self) -> Any:
        """For a group that is made now."""
        self._joined += 1
        self._foreign = joining.sockets()
        return PrefixStore(f"group-{self._joined}", self._store)


_membership = Membership()


def meeting_store(environment: Environment) -> Any:
    """Where ranks tell each other their addresses: a file when all are on this node, else a server on rank 0. Each job
    has keys of its own, so that ranks of two jobs never take each other for their own, whichever server they reach."""
    if environment.master:
        waiting = timedelta(seconds=MEETING)
        store, _, _ = next(rendezvous("env://", environment.rank, environment.world_size, timeout=waiting))
        store = PrefixStore(f"job-{environment.job}", store)
    else:
        job = environment.job or str(os.getppid())
        safe = "".join(c if c.isalnum() else "-" for c in f"{environment.launcher}-{os.getuid()}-{job}")
        path = Path(tempfile.gettempdir(), f"lockstep-{safe}")
        if environment.rank == 0:
            atexit.register(path.unlink, missing_ok=True)
        store = FileStore(str(path), environment.world_size)
    atexit.register(part_from, store, environment)
    return store


def meet(store: Any, environment: Environment) -> None:
    """Until every rank is here. Some import torch from a cold disk, and need much longer than others: a group that is
    joined before all have come gives up after the time of the first run."""
    store.set(f"here-{environment.rank}", "")
    store.wait([f"here-{r}" for r in range(environment.world_size)], timedelta(seconds=MEETING))


def part_from(store: Any, environment: Environment) -> None:
    """Rank 0 keeps the store. It ends last, or others could not ask any more what became of the run, and would come to
    a verdict of their own."""
    with contextlib.suppress(RuntimeError):
        if environment.rank:
            store.set(f"left-{environment.rank}", "")
        else:
            others = [f"left-{r}" for r in range(1, environment.world_size)]
            store.wait(others, timedelta(seconds=FAREWELL))


def not_met(environment: Environment, error: RuntimeError) -> WorldUnavailable:
    """The ranks could not all join the group: nothing was run, on any of them."""
    where = f" at {environment.master}, port {environment.port}" if environment.master else ""
    reason = str(error).partition("\n")[0].rstrip(".")
    return WorldUnavailable(
        f"The {environment.world_size} ranks of {environment.launcher} did not meet{where}: {reason}.",
        "Have all of them started, and can their nodes connect to each other? Where this address is wrong, or another "
        "program has this port, set MASTER_ADDR and MASTER_PORT, alike for all ranks.",
    )
