"""The fork server itself, run as ``python -m lockstep.launch.forkserver SOCKET PARENT``.

::

    notebook ──(1) entry + 3 file descriptors──▶ server ──(2) fork──▶ child ──(3) entry(conn)
        ▲                                          │                    │
        ├──(2) pid ... (4) exit status, by pipe────┘                    │
        └──(3) messages, by socket pair ────────────────────────────────┘

multiprocessing's forkserver would import the learner's ``__main__`` anew in every child; this one never does. Forking
is safe only from a process with one thread that has not run OpenMP: hence OMP_NUM_THREADS=1 before torch is imported,
and nothing is computed here, on no device. The server ends with its parent, and its children end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
from multiprocessing.connection import Connection

from lockstep.launch import hugepages
from lockstep.launch.child import STATUS, enter
from lockstep.launch.job import seed_rank

PRELOAD = (
    "torch",
    "torch.distributed",
    "torch.distributed.fsdp",
    "torch.distributed.tensor.parallel",
    "torch.distributed.pipelining",
    "torch.nn.parallel",
    "numpy.random",
    "cloudpickle",
    "lockstep.launch.worker",
    "lockstep.virtual.simulation",
)
_PR_SET_PDEATHSIG = 1


def preload() -> None:
    """Load torch, and let it read what it reads at its first seed: the sources on the way there, for CUDA's book of
    stacks, which takes 3 ms. A child seeds itself anew."""
    for module in PRELOAD:
        importlib.import_module(module)
    seed_rank(0, 0)


class Server:
    """The server's own side: waits for requests and for children that end."""

    def __init__(self, control: socket.socket, parent: int) -> None:
        self._control = control
        self._reports: dict[int, int] = {}  # pid → the pipe that takes its exit status
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
        self._control.send(b"ready")
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _serve(self) -> None:
        entry, fds, _, _ = socket.recv_fds(self._control, 4096, 3)
        if not entry:
            self._end()
        if len(fds) < 3:  # no file descriptors left here: the starter sees its pipe close
            for fd in fds:
                os.close(fd)
            return
        conn, log, report = fds
        self._load(entry.decode())
        try:
            pid = os.fork()
        except OSError as error:
            pid = -(error.errno or 1)
        if pid == 0:
            self._become(conn, log, report)
        os.close(conn)
        os.close(log)
        with contextlib.suppress(BrokenPipeError):
            os.write(report, STATUS.pack(pid))
        if pid > 0:
            self._reports[pid] = report
        else:
            os.close(report)

    @staticmethod
    def _load(entry: str) -> None:
        """An entry point of this package is imported once, here; the learner's modules never are."""
        if entry.startswith("lockstep."):
            with contextlib.suppress(Exception):  # the child meets the same error and reports it
                importlib.import_module(entry.split(":")[0])

    def _become(self, conn: int, log: int, report: int) -> None:
        os.setsid()
        self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._pid:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for end in (self._control, self._woken, self._wake):
            end.close()
        for fd in (self._parent, report, *self._reports.values()):
            with contextlib.suppress(OSError):
                os.close(fd)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for fd, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(fd, target)
        os.close(nothing)
        os.close(log)
        enter(Connection(conn))

    def _reap(self) -> None:
        self._woken.recv(4096)
        while self._reports and (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)):
            self._kill_group(ended.si_pid)  # what it has left behind; its number is not free before waitpid
            _, status = os.waitpid(ended.si_pid, 0)
            report = self._reports.pop(ended.si_pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(report, STATUS.pack(os.waitstatus_to_exitcode(status)))
            os.close(report)

    @staticmethod
    def _kill_group(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)

    def _end(self) -> None:
        for pid in self._reports:
            self._kill_group(pid)
        os._exit(0)


def main() -> None:
    preload()
    gc.collect()
    gc.freeze()
    hugepages.collapse()
    Server(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
