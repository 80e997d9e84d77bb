"""run() under a launcher: this process is a rank, and the same line of the same file runs on all of them.

The process group is joined by the first run() and kept until the process ends. What became of each rank is told to
all through the group's store, which still works when the group is broken: so every rank gets all values, or every
rank raises the same error.
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import faulthandler
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed import FileStore, PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from lockstep import explain
from lockstep.errors import RunError, Standing, UsageError
from lockstep.events import Outcome, Trace
from lockstep.launch import group, values
from lockstep.launch.ending import Raised, as_error, first_cause
from lockstep.launch.job import INSIDE, Job
from lockstep.launch.launchers import Environment, detect
from lockstep.launch.matching import Matching, standing
from lockstep.launch.prints import Tagged
from lockstep.launch.worker import Returned, carry_out
from lockstep.record import Operation, Recorder
from lockstep.residency import Residency

__all__ = ["Environment", "detect", "run_spmd"]
PATIENCE = 30.0  # seconds more than the job has, after which a rank that does not come back is ended


def run_spmd(job: Job) -> Outcome:
    """Run ``job`` as the rank that this process is. Every rank gets all values; prints are its own."""
    environment = detect()
    if environment is None:
        raise UsageError("No launcher has started this process.", "Start it with torchrun --nproc-per-node 4 FILE.")
    return _membership.run(job, environment)


class _Membership:
    """This process's place in the group, over all calls of run()."""

    def __init__(self) -> None:
        self._store: Any = None
        self._joined = 0  # groups so far; 0 when the script has made its own
        self._timeout = 0.0
        self._runs = 0
        self._connections: set[int] = set()

    def run(self, job: Job, environment: Environment) -> Outcome:
        store = self._join(environment, job.timeout)
        self._runs += 1
        exchange = Exchange(PrefixStore(f"run-{self._runs}", store), environment, job.timeout + PATIENCE)
        try:
            return Part(job, environment, exchange, self.leave).outcome()
        except RunError:
            self.leave()  # messages of the broken run must not meet the next one
            raise

    def leave(self) -> None:
        if self._joined:
            group.leave()
            group.hang_up(self._connections)
            self._connections = set()

    def _join(self, environment: Environment, timeout: float) -> Any:
        environment.install()
        if self._store is None:
            self._store = meeting_store(environment)
            atexit.register(group.leave_at_exit)
        if self._timeout != timeout:
            self.leave()
        if not dist.is_initialized():
            self._timeout = timeout
            self._joined += 1
            if not environment.master:
                group.use_loopback()
            store = PrefixStore(f"group-{self._joined}", self._store)
            before = group.sockets()
            group.join(environment.rank, environment.world_size, timeout, store)
            self._connections = group.sockets() - before
        return self._store


_membership = _Membership()


def meeting_store(environment: Environment) -> Any:
    """Where ranks tell each other their addresses: a file when all are on this node, else a server on rank 0."""
    if environment.master:
        store, _, _ = next(rendezvous("env://", environment.rank, environment.world_size))
        return store
    job = environment.job or str(os.getppid())
    safe = "".join(c if c.isalnum() else "-" for c in f"{environment.launcher}-{os.getuid()}-{job}")
    path = Path(tempfile.gettempdir(), f"lockstep-{safe}")
    if environment.rank == 0:
        atexit.register(path.unlink, missing_ok=True)
    return FileStore(str(path), environment.world_size)


class Exchange:
    """Tells all ranks what each has to tell, through the store."""

    def __init__(self, store: Any, environment: Environment, limit: float) -> None:
        self._store, self._environment = store, environment
        self._limit = datetime.timedelta(seconds=limit)

    def __call__(self, what: str, mine: Any) -> list[Any]:
        self._store.set(f"{what}-{self._environment.rank}", pickle.dumps(mine))
        keys = [f"{what}-{r}" for r in range(self._environment.world_size)]
        self._store.wait(keys, self._limit)
        return [pickle.loads(self._store.get(key)) for key in keys]


class Part:
    """What this rank does in one run."""

    def __init__(self, job: Job, environment: Environment, exchange: Exchange, leave: Callable[[], None]) -> None:
        self.job, self.environment, self.exchange, self.leave = job, environment, exchange, leave
        self.printed: list[str] = []
        self.operations: list[Operation] = []
        self.blob = b""

    def outcome(self) -> Outcome:
        self.exchange("ready", None)
        self.began = time.monotonic()
        with self._as_rank():
            mine = self._live()
        if isinstance(mine, Raised):
            self.leave()  # so that ranks which wait for this one see at once that it will not come
        told = self.exchange("ended", (mine, self.operations))
        ends = {r: end for r, (end, _) in enumerate(told) if isinstance(end, Raised)}
        logs = [log for _, log in told]
        matching = Matching(logs)
        until = time.monotonic() - self.began
        trace = Trace.of(matching.events(logs, until), len(logs), "spmd", self.environment.launcher)
        error = self._error(ends, logs, matching)
        if error:
            error.trace, error.printed = trace, "".join(self.printed)
            raise error
        blobs: list[Any] = [None] * len(logs)
        dist.all_gather_object(blobs, self.blob)
        returned = [end for end, _ in told]
        printed = "".join(self.printed)
        memory = [end.memory for end in returned]
        ended = max(end.time for end in returned)
        peaks = [m.peak for m in memory]
        return Outcome(list(map(values.loads, blobs)), trace, ended, peaks, printed, memory=memory)

    def _live(self) -> Returned | Raised:
        residency = Residency(lambda: time.monotonic() - self.began)
        try:
            value = carry_out(self.job, self.environment.rank, self.began, residency, keep=self._keep)
            ended = time.monotonic() - self.began
            self.blob = values.dumps(value)
            return Returned(b"", ended, residency.memory())
        except Exception as error:
            return Raised.of(error)

    def _keep(self, recorder: Recorder) -> None:
        self.operations = recorder.operations

    def _error(self, ends: dict[int, Raised], logs: list[list[Operation]], matching: Matching) -> RunError | None:
        if not ends:
            return matching.mismatch() or matching.unmatched()
        rank, cause = first_cause(ends)
        open_ = {r: [o for o in log if o.end is None] for r, log in enumerate(logs)}
        if open_[rank] and (mismatch := matching.mismatch()):
            return mismatch
        standings = [
            standing(open_[r][-1], matching.waits_for(open_[r][-1]))
            if r in ends and ends[r].secondary and open_[r]
            else ends[r].standing(r) if r in ends else Standing(r, "finished")
            for r in range(len(logs))
        ]  # fmt: skip
        return explain.deadlock(standings) if cause.secondary and open_[rank] else as_error(rank, cause, standings)

    @contextlib.contextmanager
    def _as_rank(self) -> Iterator[None]:
        """Prints are tagged and kept, run() does not nest, and a rank that never comes back is ended with its stack."""
        out, prints = sys.stdout, Tagged(self._print, self.job.output_limit)
        faulthandler.dump_traceback_later(self.job.timeout + PATIENCE, exit=True, file=sys.__stderr__ or 2)
        os.environ[INSIDE] = "spmd"
        self._out = out
        sys.stdout = _Passing(prints, self.environment.rank)
        try:
            yield
        finally:
            sys.stdout = out
            prints.close()
            del os.environ[INSIDE]
            faulthandler.cancel_dump_traceback_later()

    def _print(self, text: str) -> None:
        self.printed.append(text)
        self._out.write(text)
        self._out.flush()


class _Passing:
    def __init__(self, prints: Tagged, rank: int) -> None:
        self._prints, self._rank = prints, rank

    def write(self, text: str) -> int:
        self._prints.add(self._rank, text)
        return len(text)

    def flush(self) -> None:
        """Whole lines are passed on at once."""

    def isatty(self) -> bool:
        return False
