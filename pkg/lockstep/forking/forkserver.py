"""The fork server, run as ``python -m lockstep.forking.forkserver SOCKET PARENT``: it loads torch, and forks children.

::

    notebook ──(1) entry + 3 file descriptors──▶ server ──(2) fork──▶ child ──(3) entry(conn)
        ▲                                          │                    │
        ├──(2) pid ... (4) exit status, by pipe────┘                    │
        └──(3) messages, by socket pair ────────────────────────────────┘

While nothing runs, the server forks spares for the next run (``preforked``). If nobody asks for a run at first, as in a
notebook, it loads what few runs need (``preloaded``).

Unlike multiprocessing's forkserver, it never imports the learner's ``__main__`` in children. Forking is safe only from
a process with one thread that has not run OpenMP: hence OMP_NUM_THREADS=1 before torch is imported, and the server
itself computes nothing, on no device. The server ends with its parent, and its children end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import signal
import socket
import sys
from collections.abc import Collection, Iterator
from multiprocessing.connection import Connection

from lockstep.forking import hugepages, left_behind
from lockstep.forking.child import STATUS, enter, kill_group
from lockstep.forking.fork_request import FILES, LOAD, LOADED, LONGEST, READY, Request
from lockstep.forking.preforked import MOST, Slots, WarmPool, Wish
from lockstep.forking.preloaded import UNASKED, load, preload

UNHURRIED = 0.5  # seconds from the start without any request, after which the rest is loaded
WORTH = 40  # forks that outweigh the cost of making huge pages
SLOWLY = 0.005  # seconds between two of them while ranks run
_PR_SET_PDEATHSIG = 1


class Server:
    """The server's main loop: waits for requests and for the ends of children; when idle, it forks spares, unless
    ``spares`` is False, for a ``parent`` that ends soon."""

    def __init__(self, control: socket.socket, parent: int, spares: bool = True) -> None:
        self._control = control
        self._reports: dict[int, int] = {}  # pid of a rank → the pipe for its exit status
        self._pool: WarmPool | None = None  # for the run that is being requested
        self._asked: list[tuple[int, int, int]] = []  # the files of that run's children so far
        self._slots = Slots(self._separate, most=MOST if spares else 0)
        self._unasked = [*UNASKED] if spares else []  # modules to load, until the first request comes
        self._forks = 0  # since the memory was last in small pages
        self._collapsing: Iterator[int] | None = None  # while there are huge pages to be made
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ, self._serve)
        self._parent = -1
        with contextlib.suppress(OSError, AttributeError):  # before Linux 5.3, only the socket's end is noticed
            self._parent = os.pidfd_open(parent)
            self._selector.register(self._parent, selectors.EVENT_READ, self._end)
        self._woken, wake = socket.socketpair()
        wake.setblocking(False)
        self._wake = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self._selector.register(self._woken, selectors.EVENT_READ, self._reap)
        self._prctl = ctypes.CDLL(None).prctl
        self._pid = os.getpid()
        left_behind.adopt()

    def run(self) -> None:
        self._control.send(READY)
        while True:
            events = self._selector.select(self._patience())
            for key, _ in events:
                key.data()
            if not events:
                self._tend()

    def _patience(self) -> float | None:
        """Seconds of idle time after which ``_tend`` is to be called; None if not at all."""
        if self._collapsing:
            return SLOWLY if self._reports else 0.0
        if self._reports:
            return None
        return UNHURRIED if self._unasked else self._slots.patience()

    def _tend(self) -> None:
        """A small piece of work that no request has to wait for."""
        if self._collapsing:
            if next(self._collapsing, None) is None:
                self._collapsing = None
        elif self._unasked:
            self._load(self._unasked.pop(0))
        else:
            self._slots.tend()

    # ---- requests

    def _serve(self) -> None:
        message, files, _, _ = socket.recv_fds(self._control, LONGEST, FILES + 1)
        if not message:
            self._end()
        self._unasked.clear()
        request = Request.unpacked(message)
        if request.index == LOAD:
            self._load(request.entry)
            self._control.send(LOADED)
            return
        if request.index < 0 or len(files) < request.files:  # out of descriptors: the starter sees its pipe close
            for fd in [*files, *(fd for asked in self._asked for fd in asked)]:
                os.close(fd)
            self._asked.clear()
            return
        if request.index == 0:
            self._begin(request, files.pop())
        conn, log, report = files
        if not self._pool:
            self._answer((conn, log, report), self._fork(conn, log, report))
            return
        self._asked.append((conn, log, report))
        if request.index == request.size - 1:
            self._send(self._pool)

    def _begin(self, request: Request, told: int) -> None:
        """The first request of a run: take the pool of spares that fits it, if any. The next run is expected to be the
        same."""
        self._bury()
        if request.entry.startswith("lockstep."):  # the learner's modules are never loaded here
            self._load(request.entry.split(":")[0])
        forks = request.size * forks_of(request.entry)
        if self._forks <= WORTH < self._forks + forks:
            self._collapse(now=forks > request.size)
        self._forks += forks
        with open(told, "rb") as setup:
            environment = json.loads(setup.read().decode("utf-8", "surrogateescape"))["env"]
        if self._pool:  # of a run that was cancelled
            self._pool.dissolve()
        self._pool = self._slots.take(Wish(request.entry, request.size, environment))

    def _collapse(self, now: bool) -> None:
        """Put the memory in huge pages: in pieces, as nobody may wait half a second for a run; or ``now``, for a child
        that itself forks many others."""
        self._collapsing = hugepages.collapsing()
        while now and self._collapsing:
            self._tend()

    def _send(self, pool: WarmPool) -> None:
        """Give the pool to the run. If a spare is lost at the last moment, fork all children afresh."""
        try:
            pids = pool.hand_over([(conn, log) for conn, log, _ in self._asked])
        except OSError:
            pool.dissolve()
            pids = [self._fork(*files) for files in self._asked]
        pool.close()
        self._pool = None
        for files, pid in zip(self._asked, pids, strict=True):
            self._answer(files, pid)
        self._asked.clear()

    def _answer(self, files: tuple[int, int, int], pid: int) -> None:
        """Report the pid of a child, or minus the errno if it could not be forked."""
        conn, log, report = files
        os.close(conn)
        os.close(log)
        with contextlib.suppress(BrokenPipeError):
            os.write(report, STATUS.pack(pid))
        if pid > 0:
            self._reports[pid] = report
        else:
            os.close(report)

    def _fork(self, conn: int, log: int, report: int) -> int:
        try:
            pid = os.fork()
        except OSError as error:
            spares = self._slots.dissolve()
            if not spares:
                return -(error.errno or 1)
            for spare in spares:
                self._collect(spare)
            return self._fork(conn, log, report)
        if pid == 0:
            self._become(conn, log, report)
        return pid

    def _load(self, module: str) -> None:
        """Import a module, for all later children. Spares do not have it, and are killed."""
        if module not in sys.modules:
            self._slots.dissolve()
            with contextlib.suppress(Exception):  # a child that needs it gets the same error
                load([module])
            self._forks = 0

    def _separate(self, kept: Collection[int] = ()) -> None:
        """In a child: start a new session, ask to be killed when the server ends, close its files except ``kept``."""
        os.setsid()
        self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._pid:
            os._exit(1)
        left_behind.adopt()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for end in (self._control, self._woken, self._wake):
            end.close()
        asked = [fd for files in self._asked for fd in files]
        spares = [*self._slots.files(), *(self._pool.files() if self._pool else [])]
        for fd in {self._parent, *self._reports.values(), *spares, *asked}.difference(kept):
            with contextlib.suppress(OSError):
                os.close(fd)

    def _become(self, conn: int, log: int, report: int) -> None:
        self._separate(kept=(conn, log))
        with contextlib.suppress(OSError):
            os.close(report)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for fd, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(fd, target)
        os.close(nothing)
        os.close(log)
        enter(Connection(conn))

    # ---- ends

    def _reap(self) -> None:
        self._woken.recv(4096)
        with contextlib.suppress(ChildProcessError):  # no children are left
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self._collect(ended.si_pid)
        self._sweep()

    def _collect(self, pid: int) -> None:
        """Reap a child that has ended or has been killed, and report its exit status."""
        kill_group(pid)  # processes that it has left behind; the pid cannot be reused before waitpid
        _, status = os.waitpid(pid, 0)
        if report := self._reports.pop(pid, None):
            with contextlib.suppress(BrokenPipeError):
                os.write(report, STATUS.pack(os.waitstatus_to_exitcode(status)))
            os.close(report)
        self._slots.lose(pid)

    def _sweep(self) -> None:
        """Kill what ranks have left behind. Called when every child that was forked is in a list."""
        left_behind.kill({*self._reports, *self._slots.pids(), *(self._pool.pids() if self._pool else [])})

    def _bury(self) -> None:
        """Reap children whose starter has released them without waiting, so that the next run finds memory free."""
        for pid, report in list(self._reports.items()):
            if is_broken(report):
                self._collect(pid)
        self._sweep()

    def _end(self) -> None:
        for pid in self._reports:
            kill_group(pid)
        self._slots.dissolve()
        if self._reports:
            left_behind.end()
        os._exit(0)


def forks_of(entry: str) -> int:
    """How many forks one child of this entry point causes, itself included: its module's ``FORKS``."""
    return int(getattr(sys.modules.get(entry.split(":")[0]), "FORKS", 1))


def is_broken(pipe: int) -> bool:
    """Whether the reading end of a pipe is closed."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))


def main() -> None:
    preload()
    Server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
