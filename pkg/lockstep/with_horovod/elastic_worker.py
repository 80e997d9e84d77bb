"""An elastic worker: a fork that waits for its place in the job, works, and reports its steps. See ``elastic.py``."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import cloudpickle
from torch.utils._python_dispatch import _disable_current_modes

from lockstep.comm import exits
from lockstep.launch.deadline import Deadline
from lockstep.launch.watchdog import Stack

Event = dict[str, Any]  # {"seconds": 0.31, "worker": 1, "what": "step", "step": 4, "rank": 1, "size": 2}
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Script:
    """The kills and additions of a job. ``workers`` at first; ``kill``: by worker, the step at which it is killed;
    ``add``: the step at which one more joins, if any. (One only: of two additions within a second Horovod 0.28 misses
    the second.)"""

    workers: int
    kill: Mapping[int, int] = field(default_factory=dict)
    add: int | None = None

    @property
    def most(self) -> int:
        """The number of all workers, before and after."""
        return self.workers + (self.add is not None)


class Worker:
    """A worker's number, its script, and its pipe to the job's process."""

    def __init__(self, number: int, pipe: Connection, script: Script) -> None:
        self.number, self.pipe, self._script = number, pipe, script
        self._lock = threading.Lock()

    def tell(self, what: str, facts: Any) -> None:
        with self._lock:
            self.pipe.send((what, facts))

    def note(self, what: str, **facts: Any) -> None:
        """Report an event."""
        self.tell(what, facts)

    def at(self, step: int) -> None:
        """This worker has reached ``step``: carry out what the script has for it."""
        if self._script.kill.get(self.number) == step:
            self.note("killed", step=step)
            os.kill(os.getpid(), signal.SIGKILL)
        if self._script.add == step:
            self.tell("waits", None)
            self.pipe.recv()


class Batches(Sequence[Any]):
    """``batches``, with an event whenever one is taken."""

    def __init__(self, batches: Sequence[Any], worker: Worker) -> None:
        self._batches, self._worker = batches, worker

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, step: Any) -> Any:
        if isinstance(step, int) and -len(self) <= step < len(self):
            self._worker.note("step", step=step % len(self), **_place())
            self._worker.at(step % len(self))
        return self._batches[step]


def become(worker: Worker, theirs: Sequence[Connection], until: float, live: Callable[[Worker], Any]) -> NoReturn:
    """In the fork: wait for a place in the job, run ``live``, and exit. ``theirs``: the connections of the job's
    process, to be closed."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for pipe in theirs:
            pipe.close()
        os.environ.update(worker.pipe.recv())
        sys.stdout = sys.stderr = Prints(worker)
        status = _lived(worker, until, live)
    except EOFError:  # it was never needed
        pass
    finally:
        os._exit(status)


def _lived(worker: Worker, until: float, live: Callable[[Worker], Any]) -> int:
    import horovod.torch as hvd

    def overdue(stack: Stack) -> None:
        worker.tell("overdue", f"{stack.place}: {stack.place.source}" if stack.place.file else "no line of its own")

    try:
        with Deadline(until - time.monotonic(), overdue, lambda: os._exit(1)), _disable_current_modes():
            before = _sockets()
            hvd.init()
            _watch(worker, _sockets() - before)
            worker.note("started", **_place())
            value = live(worker)
            worker.tell("value", cloudpickle.dumps(value))
            worker.note("returned")
            hvd.shutdown()
    except BaseException as error:
        worker.tell("raised", exits.raised(worker.number, error))
        return 1
    return 0


def _watch(worker: Worker, connections: set[tuple[int, int]]) -> None:
    """Patch Horovod so that commits, updates, failures and resets are reported. Nothing is undone: the process ends."""
    import horovod.torch.elastic as elastic
    from horovod.common.elastic import State
    from horovod.common.exceptions import HostsUpdatedInterrupt

    commit, check, updated = State.commit, State.check_host_updates, threading.Event()
    init, shutdown = elastic.init, elastic.shutdown

    def noted_commit(state: Any) -> None:
        worker.note("commit")
        commit(state)

    def noted_check(state: Any) -> None:
        try:
            check(state)
        except HostsUpdatedInterrupt:
            updated.set()
            worker.note("updated")
            raise

    def noted_shutdown() -> None:
        shutdown()
        if not updated.is_set():
            worker.note("failed")
            _sever(connections)

    def noted_init() -> None:
        before = _sockets()
        init()
        connections.clear()
        connections.update(_sockets() - before)
        updated.clear()
        worker.note("reset", **_place())

    State.commit, State.check_host_updates = noted_commit, noted_check
    elastic.init, elastic.shutdown = noted_init, noted_shutdown


def _sockets() -> set[tuple[int, int]]:
    """This process's sockets, each with its inode, since descriptors are reused."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            status = os.stat(int(name))
            if stat.S_ISSOCK(status.st_mode):
                found.add((int(name), status.st_ino))
    return found


def _sever(connections: set[tuple[int, int]]) -> None:
    """Shut these connections down: who waits for a message over one of them gets an error."""
    for number, _ in connections & _sockets():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
            connection.shutdown(socket.SHUT_RDWR)


def _place() -> dict[str, int]:
    import horovod.torch as hvd

    return {"rank": hvd.rank(), "size": hvd.size()}


class Prints(io.TextIOBase):
    """A standard output that reports whole lines, each with its worker's number."""

    def __init__(self, worker: Worker) -> None:
        self._worker, self._line = worker, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        if lines:
            self._worker.tell("printed", "".join(f"[worker {self._worker.number}] {line}\n" for line in lines))
        return len(text)
