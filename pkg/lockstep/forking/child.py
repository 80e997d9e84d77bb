"""A child process: the handle that its starter holds, and the first steps in the child.

Forked or spawned, a child gets three things: a connection, a log file for its stdout and stderr (also of C code), and a
setup (entry point, and the caller's directory, import path and environment).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import signal
import socket
import struct
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection, wait

import psutil

STATUS = struct.Struct("i")
FAULT = 70  # exit status of a child in which Lockstep's code has failed, not the learner's; the log has the traceback
CUT = 71  # exit status of a child whose connection has been closed or replaced by its program
SILENCE = 20.0  # seconds within a message after which the other end counts as stopped


def bounded(conn: Connection) -> Connection:
    """Set timeouts on ``conn``, so that a message raises OSError if the other end stops in the middle of it. Otherwise
    a process that is stopped while it sends a large value would block its starter, too."""
    with socket.socket(fileno=os.dup(conn.fileno())) as end:
        for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, direction, struct.pack("ll", int(SILENCE), 0))
    return conn


class Child:
    """The handle of a process that runs ``entry(conn)`` in its own session.

    ``conn``: the starter's end of a duplex connection. ``log``: the path of the child's stdout and stderr, valid in
    this process until ``close``. ``fileno`` becomes readable when the process has ended, so that
    ``multiprocessing.connection.wait`` accepts children as well as connections.
    """

    def __init__(self, pid: int, conn: Connection, status: int, log: str, release: Callable[[], None]) -> None:
        self.pid, self.conn, self.log = pid, bounded(conn), log
        self._status, self._release = status, release
        self._exitcode: int | None = None
        self._open, self._killed = True, False
        self.orphaned = False  # whether it has ended since its starter's server has

    def fileno(self) -> int:
        return self._status

    @property
    def exitcode(self) -> int | None:
        """None while it runs; then its exit status, or minus the number of the signal that killed it."""
        return self.wait(0)

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until the process has ended, or for ``timeout`` seconds."""
        if self._exitcode is None and self._open and wait([self._status], timeout):
            self._exitcode = self._collect()
        return self._exitcode

    def _collect(self) -> int:
        told = os.read(self._status, STATUS.size)
        self.orphaned = len(told) < STATUS.size  # the server is gone, and its children were killed with it
        return -signal.SIGKILL if self.orphaned else int(STATUS.unpack(told)[0])

    @property
    def stopped(self) -> bool:
        return is_stopped(self.pid)

    def write_stack(self) -> None:
        """Let faulthandler write its stacks into the log, on SIGUSR1. A stopped process goes on for that."""
        if self.pid > 0 and self.exitcode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGUSR1)
                os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill the process and all processes that it has started."""
        if self._open and not self._killed and self.pid > 0 and self.exitcode is None:  # 0 would kill our own group
            self._killed = True
            kill_group(self.pid)

    def close(self, patience: float = 5.0) -> None:
        """Kill it if it runs, and release its connection and log. Waits for its end for up to ``patience`` seconds; it
        is dead before that, but the system needs milliseconds to free its memory."""
        if self._open:
            self.kill()
            self.wait(patience)
            self._open = False
            self.conn.close()
            os.close(self._status)
            self._release()

    @property
    def fault(self) -> str:
        """The error of Lockstep's own code that ended the child, and its line; "" if it ended for another reason."""
        if self._exitcode != FAULT:
            return ""
        last = [line for line in self.tail().splitlines() if line and not line.startswith(" ")][-1:]
        frames = re.findall(r'^  File ".*?([^/"]+)", (line \d+, in \S+)', self.tail(), re.MULTILINE)[-1:]
        return "".join(last) + "".join(f" ({file}, {line})" for file, line in frames)

    @property
    def last_words(self) -> str:
        """The message of an uncaught C++ exception that has terminated the process; "" if none has."""
        said = re.findall(r"^terminate called after .*\n +what\(\): +(.+)$", self.tail(), re.MULTILINE)
        return re.sub(r"^(\[[^\]]*\] )+", "", said[-1]) if said else ""  # [enforce fail at device.cc:82]

    def tail(self, characters: int = 20_000) -> str:
        """The end of the log."""
        with open(self.log, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - characters))
            return log.read().decode(errors="replace")

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


def is_stopped(pid: int) -> bool:
    """Whether a signal has stopped the process. (One that a debugger holds is in another state.)"""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error:
        return False


def kill_group(pid: int) -> None:
    """Kill a process and its process group; in its first microseconds it has no group of its own."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


SECRETS = ("LOCKSTEP_SEED",)  # variables that are withheld from children, where a learner's function runs


def environment_of_children() -> dict[str, str]:
    """This process's environment, without the variables that children must not see."""
    return {name: value for name, value in os.environ.items() if name not in SECRETS}


def setup(entry: str, env: Mapping[str, str] | None) -> bytes:
    """The setup of a child, encoded. Ranks compute with one thread each, since the ranks themselves run in parallel."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = "/"
    environment = {**environment_of_children(), **threads, **(env or {})}
    # The environment is JSON within JSON, decoded only where it is needed.
    told = {"entry": entry, "cwd": cwd, "path": sys.path, "env": json.dumps(environment)}
    return json.dumps(told).encode("utf-8", "surrogateescape")


def take_over(environment: str) -> None:
    """Replace this process's environment by that of a setup."""
    os.environ.clear()
    os.environ.update(json.loads(environment))


def identity(conn: Connection) -> tuple[int, int] | None:
    """The device and inode of a connection; None if its descriptor was closed from elsewhere."""
    with contextlib.suppress(OSError):
        found = os.fstat(conn.fileno())
        return found.st_dev, found.st_ino
    return None


def enter(conn: Connection, prepared: bool = False) -> None:
    """Apply the setup received on ``conn``, run its entry point, and exit. Never returns. ``prepared``: the environment
    has been set already."""
    status = FAULT
    given = identity(conn)
    try:
        told = json.loads(conn.recv_bytes().decode("utf-8", "surrogateescape"))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if not prepared:
            take_over(told["env"])
        with contextlib.suppress(OSError):
            os.chdir(told["cwd"])
        sys.path[:] = told["path"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        module, function = told["entry"].split(":")
        getattr(importlib.import_module(module), function)(conn)
        status = 0
    except EOFError:  # the starter is gone, or has discarded this child
        os.killpg(0, signal.SIGKILL)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        if identity(conn) != given:
            os._exit(CUT)  # at once: stdout and stderr may be anything now
        traceback.print_exc(file=sys.__stderr__)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(status & 0xFF)
