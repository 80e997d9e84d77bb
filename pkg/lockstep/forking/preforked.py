"""Preforked spares: a pool of processes that have joined a process group, and wait for a job.

::

    server ──(1) fork──▶ spare: prepare(seat) ──(2) "ready"──▶ server ··· a run asks for ranks ···
    server ──(3) the connection and the log of a rank──▶ spare: confirms, and enters like any other child

A spare prepares itself as far as a rank can without its job (``prepare`` of the entry's module). The next run is not
known, but most runs are like the last one: the same entry, number of ranks and environment. For any other run, or when
a spare was killed or stopped meanwhile, the pool is dissolved and the run gets fresh forks. A spare is used once, so
that no state of a run remains. (Ranks with GPUs do not join ahead of time.)
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from lockstep.forking.child import enter, kill_group, take_over

PREPARES, WAITS = b"lockstep-warms", b"lockstep-spare"  # as ps shows one (15 characters); a rank is "python" again
MOST = 8  # spares of a pool, each of which has some 12 MB of its own, and uses 0.2 % of a core
QUIET = 0.05  # seconds without a rank or a request, after which spares are forked
REST = 600.0  # seconds after which unused spares are killed
PATIENCE = 1.0  # seconds until a spare confirms its job
_READY, _JOB = b"ready", b"job"
_PR_SET_NAME, _PR_GET_NAME = 15, 16


@dataclass(frozen=True)
class Wish:
    """What the next run will probably request."""

    entry: str
    size: int
    environment: str  # as in its setup


@dataclass(frozen=True)
class Seat:
    """A spare's place in the coming run."""

    rank: int
    size: int
    store: str  # the file of the rendezvous store


class WarmPool:
    """The server's handle of a pool of spares."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self._ends: dict[int, socket.socket] = {}  # pid → our end of the socket to it, by rank

    def add(self, pid: int, end: socket.socket) -> None:
        self._ends[pid] = end

    def __contains__(self, pid: int) -> bool:
        return pid in self._ends

    def files(self) -> list[int]:
        """The server's file descriptors of the pool, which no child may inherit."""
        return [end.fileno() for end in self._ends.values()]

    def pids(self) -> list[int]:
        return list(self._ends)

    def fits(self, wish: Wish) -> bool:
        """Whether it can serve ``wish`` now: all spares are ready, and none was killed or stopped."""
        return self.wish == wish and all(map(waits, self._ends)) and all(map(is_ready, self._ends.values()))

    def hand_over(self, files: Sequence[tuple[int, int]]) -> list[int]:
        """Give each spare, by rank, its connection and its log, and return their pids. Raises OSError if one does not
        confirm, because it is dead or stopped."""
        for end, given in zip(self._ends.values(), files, strict=True):
            socket.send_fds(end, [_JOB], given)
        for end in self._ends.values():
            end.settimeout(PATIENCE)
            if end.recv(len(_JOB)) != _JOB:
                raise ConnectionResetError
        return list(self._ends)

    def close(self) -> None:
        for end in self._ends.values():
            end.close()

    def dissolve(self) -> list[int]:
        """Kill the spares. Returns their pids."""
        for pid in self._ends:
            kill_group(pid)
        self.close()
        return list(self._ends)


def waits(pid: int) -> bool:
    """Whether a child of this process has neither ended nor been stopped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is None


def is_ready(end: socket.socket) -> bool:
    try:
        return end.recv(len(_READY), socket.MSG_DONTWAIT) == _READY
    except OSError:
        return False


def attend(end: socket.socket, wish: Wish, seat: Seat) -> None:
    """In the spare: prepare, wait, become the rank. Never returns."""
    try:
        was = rename(PREPARES)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        os.close(nowhere)
        take_over(wish.environment)
        kept = importlib.import_module(wish.entry.split(":")[0]).prepare(seat)  # noqa: F841  # for the rank's life
        gc.collect()
        rename(WAITS)
        end.send(_READY)
        _, (conn, log), _, _ = socket.recv_fds(end, len(_JOB), 2)
        end.send(_JOB)
        end.close()
        rename(was)
        for standard in (1, 2):
            os.dup2(log, standard)
        os.close(log)
    except BaseException:  # it could not prepare, or the server is gone
        os.killpg(0, signal.SIGKILL)
    enter(Connection(conn), prepared=True)


def rename(name: bytes) -> bytes:
    """Rename this process, and return its previous name."""
    prctl, had = ctypes.CDLL(None).prctl, ctypes.create_string_buffer(16)
    prctl(_PR_GET_NAME, had)
    prctl(_PR_SET_NAME, name)
    return had.value


class Slots:
    """The pools of spares, one per entry point. ``separate``: makes a fork of the server an independent process, which
    closes ``files()``. ``most``: the maximum number of spares in a pool."""

    def __init__(self, separate: Callable[[], None], most: int = MOST) -> None:
        self._separate, self._most = separate, most
        self._pools: dict[str, WarmPool] = {}  # by entry
        self._wishes: dict[str, Wish] = {}  # for which there is no pool yet

    def take(self, wish: Wish) -> WarmPool | None:
        """The pool for a run that begins, if there is one that fits; another one is dissolved. The next run is expected
        to be the same."""
        pool = self._pools.pop(wish.entry, None)
        if pool and not pool.fits(wish):
            pool.dissolve()
            pool = None
        self._wishes.pop(wish.entry, None)
        if wish.size <= self._most and prepares(wish.entry):
            self._wishes[wish.entry] = wish
        return pool

    def lose(self, pid: int) -> None:
        """A process has ended: if it was a spare, dissolve its pool."""
        for entry in [entry for entry, pool in self._pools.items() if pid in pool]:
            self._pools.pop(entry).dissolve()

    def files(self) -> list[int]:
        return [fd for pool in self._pools.values() for fd in pool.files()]

    def pids(self) -> list[int]:
        return [pid for pool in self._pools.values() for pid in pool.pids()]

    def patience(self) -> float | None:
        """Seconds of idle time after which ``tend`` is to be called; None if not at all."""
        return QUIET if self._wishes else REST if self._pools else None

    def tend(self) -> None:
        """Called when idle: form the pools that are wanted, or else kill unused spares."""
        if not self._wishes:
            self.dissolve()
        for wish in self._wishes.values():
            if wish.entry not in self._pools:
                self._form(wish)
        self._wishes.clear()

    def dissolve(self) -> list[int]:
        """Kill all spares. Returns their pids."""
        pools = list(self._pools.values())
        self._pools.clear()
        return [pid for pool in pools for pid in pool.dissolve()]

    def _form(self, wish: Wish) -> None:
        pool, store = WarmPool(wish), os.memfd_create("store")
        try:
            for rank in range(wish.size):
                self._fork(pool, Seat(rank, wish.size, f"/proc/self/fd/{store}"))
            self._pools[wish.entry] = pool
        except OSError:  # out of processes or files: runs do without spares
            pool.dissolve()
        os.close(store)

    def _fork(self, pool: WarmPool, seat: Seat) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                self._separate()
                pool.close()
                ours.close()
                attend(theirs, pool.wish, seat)
            pool.add(pid, ours)


def prepares(entry: str) -> bool:
    """Whether the entry's module has a ``prepare`` for spares."""
    return hasattr(sys.modules.get(entry.split(":")[0]), "prepare")
