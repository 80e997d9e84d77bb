"""The fork server itself, run as ``python -m lockstep.forking.forkserver SOCKET PARENT``.

::

    notebook ──(1) entry + 3 file descriptors──▶ server ──(2) fork──▶ child ──(3) entry(conn)
        ▲                                          │                    │
        ├──(2) pid ... (4) exit status, by pipe────┘                    │
        └──(3) messages, by socket pair ────────────────────────────────┘

While nothing runs, the server forks spares for the next run (``preforked``): such a child is there already.

multiprocessing's forkserver would import the learner's ``__main__`` anew in every child; this one never does. Forking
is safe only from a process with one thread that has not run OpenMP: hence OMP_NUM_THREADS=1 before torch is imported,
and nothing is computed here, on no device. The server ends with its parent, and its children end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import selectors
import signal
import socket
import sys
from collections.abc import Collection
from multiprocessing.connection import Connection

from lockstep.forking import hugepages
from lockstep.forking.child import STATUS, enter, kill_group
from lockstep.forking.gc_freeze import freeze
from lockstep.forking.preforked import MOST, Slots, WarmPool, Wish
from lockstep.forking.request import FILES, LOAD, LOADED, LONGEST, READY, Request

PRELOAD = (
    "torch",
    "torch.distributed",
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.distributed.pipelining",
    "torch.nn.parallel",
    "torch.utils.serialization.config",
    "numpy.ctypeslib",
    "numpy.random",
    "cloudpickle",
    "lockstep.launch.rank_process",
    "lockstep.virtual.fake_simulation",
)
WORTH = 40  # forks: as many save what it takes to make huge pages
_PR_SET_PDEATHSIG = 1


def preload() -> None:
    """Load torch, and let it read what it reads at its first seed: the sources on the way there, for CUDA's book of
    stacks, which takes 3 ms. A child seeds itself anew. The collector rests meanwhile: it takes a fifth of the time,
    and would find little."""
    gc.disable()
    for module in PRELOAD:
        importlib.import_module(module)
    importlib.import_module("lockstep.launch.job").seed_rank(0, 0)  # here, since it imports torch
    freeze()
    gc.enable()


class Server:
    """The server's own side: waits for requests and for children that end; while all is quiet, it forks spares, unless
    its ``parent`` is not there for long (``spares``)."""

    def __init__(self, control: socket.socket, parent: int, spares: bool = True) -> None:
        self._control = control
        self._reports: dict[int, int] = {}  # pid of a rank → the pipe that takes its exit status
        self._pool: WarmPool | None = None  # that is to serve the run which is being asked for
        self._asked: list[tuple[int, int, int]] = []  # the files of that run's children so far
        self._slots = Slots(self._separate, most=MOST if spares else 0)
        self._forks = 0  # since memory lies in small pages
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ, self._serve)
        self._parent = -1
        with contextlib.suppress(OSError, AttributeError):  # before Linux 5.3 the end of the socket must do
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

    def run(self) -> None:
        self._control.send(READY)
        while True:
            events = self._selector.select(None if self._reports else self._slots.patience())
            for key, _ in events:
                key.data()
            if not events:
                self._slots.tend()

    # ---- requests

    def _serve(self) -> None:
        message, files, _, _ = socket.recv_fds(self._control, LONGEST, FILES + 1)
        if not message:
            self._end()
        request = Request.unpacked(message)
        if request.index == LOAD:
            self._load(request.entry)
            self._control.send(LOADED)
            return
        if request.index < 0 or len(files) < request.files:  # none left here: the starter sees its pipe close
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
        """The first request of a run: is there a pool for it? The next run will need the same."""
        self._bury()
        if request.entry.startswith("lockstep."):  # the learner's modules are never loaded here
            self._load(request.entry.split(":")[0])
        forks = request.size * forks_of(request.entry)
        if self._forks <= WORTH < self._forks + forks:
            hugepages.collapse()
        self._forks += forks
        with open(told, "rb") as setup:
            environment = json.loads(setup.read().decode("utf-8", "surrogateescape"))["env"]
        if self._pool:  # of a run that was taken back
            self._pool.dissolve()
        self._pool = self._slots.take(Wish(request.entry, request.size, environment))

    def _send(self, pool: WarmPool) -> None:
        """The pool is the run's. Is one of it lost at the last moment, all are forked anew."""
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
        """``pid``: minus the system's number for why there is no process."""
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
        """For all children to come. The spares are without it: they go."""
        if module not in sys.modules:
            self._slots.dissolve()
            with contextlib.suppress(Exception):  # whoever needs it meets the same error
                importlib.import_module(module)
            freeze()
            self._forks = 0

    def _separate(self, kept: Collection[int] = ()) -> None:
        """In a child: be a process of its own, that ends with the server and has none of its files but ``kept``."""
        os.setsid()
        self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._pid:
            os._exit(1)
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
        with contextlib.suppress(ChildProcessError):  # there are no more
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self._collect(ended.si_pid)

    def _collect(self, pid: int) -> None:
        """A child has ended, or has been killed."""
        kill_group(pid)  # what it has left behind; its number is not free before waitpid
        _, status = os.waitpid(pid, 0)
        if report := self._reports.pop(pid, None):
            with contextlib.suppress(BrokenPipeError):
                os.write(report, STATUS.pack(os.waitstatus_to_exitcode(status)))
            os.close(report)
        self._slots.lose(pid)

    def _bury(self) -> None:
        """Whoever has let go of a child does not wait for its end. The next run does: it shall find the memory free."""
        for pid, report in list(self._reports.items()):
            if is_broken(report):
                self._collect(pid)

    def _end(self) -> None:
        for pid in self._reports:
            kill_group(pid)
        self._slots.dissolve()
        os._exit(0)


def forks_of(entry: str) -> int:
    """How many forks will come of one of its children, itself included: its module's ``FORKS``."""
    return int(getattr(sys.modules.get(entry.split(":")[0]), "FORKS", 1))


def is_broken(pipe: int) -> bool:
    """Whether nobody reads at the other end."""
    poll = select.poll()
    poll.register(pipe, 0)
    return bool(poll.poll(0))


def main() -> None:
    preload()
    Server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
