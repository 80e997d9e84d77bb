"""run() under a launcher (SPMD): this process is a rank, and all ranks execute the same line of the same file.

The first run() joins the process group, which is kept until the process ends. Outcomes are exchanged through the
group's store, which works even when the group is broken: either every rank gets all values, or every rank raises the
same error.
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
from lockstep.launchers.outcomes import Exchange
from lockstep.launchers.spmd_rank import PATIENCE, Part

__all__ = ["Environment", "detect", "run_spmd"]

MEETING = 60.0  # seconds that a rank waits for others to start
FAREWELL = 10.0  # seconds that rank 0 waits for others to end


def run_spmd(job: Job) -> Outcome:
    """Run ``job`` on this process's rank. Every rank gets all values, but only its own output. Raises the RunError of
    the run."""
    environment = detect()
    if environment is None:
        raise UsageError("No launcher has started this process.", "Start it with torchrun --nproc-per-node 4 FILE.")
    return _membership.run(job.of_rank(environment.rank), environment)


class Membership:
    """This process's membership in the process group, across all calls of run()."""

    def __init__(self) -> None:
        self._environment: Environment | None = None  # as it was when this process joined
        self._store: Any = None
        self._joined = 0  # number of groups so far; 0 if the script has created its own
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
            self.leave()  # messages of the failed run must not be received in the next one
            raise

    def leave(self) -> None:
        if self._joined:
            joining.leave()
            self.hang_up()

    def hang_up(self) -> None:
        """Shut down the group's connections: pending operations fail at once, here and on other ranks."""
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
        """Leave and rejoin the group, on all ranks, after some of them have left it."""
        joining.leave()
        self._join(environment, timeout)

    def new_store(self) -> Any:
        """A store for a new group."""
        self._joined += 1
        self._foreign = joining.sockets()
        return PrefixStore(f"group-{self._joined}", self._store)


_membership = Membership()


def meeting_store(environment: Environment) -> Any:
    """The rendezvous store: a file if all ranks are on this node, else a server on rank 0. Keys contain the job's id,
    so that ranks of two jobs cannot be confused, whichever server they reach."""
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
    """Wait for all ranks. Some import torch from a cold disk and need much longer than others, while joining a group
    fails after the timeout of the first run."""
    store.set(f"here-{environment.rank}", "")
    store.wait([f"here-{r}" for r in range(environment.world_size)], timedelta(seconds=MEETING))


def part_from(store: Any, environment: Environment) -> None:
    """Let rank 0, which hosts the store, exit last. Otherwise other ranks could not read the outcomes any more, and
    would reach different verdicts."""
    with contextlib.suppress(RuntimeError):
        if environment.rank:
            store.set(f"left-{environment.rank}", "")
        else:
            others = [f"left-{r}" for r in range(1, environment.world_size)]
            store.wait(others, timedelta(seconds=FAREWELL))


def not_met(environment: Environment, error: RuntimeError) -> WorldUnavailable:
    """The error when not all ranks could join the group, and so nothing was run."""
    where = f" at {environment.master}, port {environment.port}" if environment.master else ""
    reason = str(error).partition("\n")[0].rstrip(".")
    return WorldUnavailable(
        f"The {environment.world_size} ranks of {environment.launcher} did not meet{where}: {reason}.",
        "Have all of them started, and can their nodes connect to each other? Where this address is wrong, or another "
        "program has this port, set MASTER_ADDR and MASTER_PORT, alike for all ranks.",
    )
