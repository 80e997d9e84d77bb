"""A child process as its starter sees it, and what the child does first.

Forked or spawned, a child gets the same three things: a connection to talk over, a log for what C code writes to
stdout and stderr, and a setup (the entry point, and the caller's directory, import path and environment).
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
FAULT = 70  # exit status of a child whose own code has failed, not the learner's; its log says why
CUT = 71  # exit status of a child whose connection to its starter is not the one that it was given
SILENCE = 20.0  # seconds in the middle of a message after which its other end counts as stopped


def bounded(conn: Connection) -> Connection:
    """``conn``, whose messages fail with an OSError when their other end stops in the middle of one: a process that is
    stopped while it sends a large value must not stop its starter, too."""
    with socket.socket(fileno=os.dup(conn.fileno())) as end:
        for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, direction, struct.pack("ll", int(SILENCE), 0))
    return conn


class Child:
    """A process that runs ``entry(conn)`` in a session of its own.

    ``conn`` is the starter's end of a duplex connection, ``log`` a readable path of the child's stdout and stderr,
    valid in this process until ``close``. ``fileno`` becomes readable when the process has ended, so that
    ``multiprocessing.connection.wait`` takes children and connections alike.
    """

    def __init__(self, pid: int, conn: Connection, status: int, log: str, release: Callable[[], None]) -> None:
        self.pid, self.conn, self.log = pid, bounded(conn), log
        self._status, self._release = status, release
        self._exitcode: int | None = None
        self._open, self._killed = True, False

    def fileno(self) -> int:
        return self._status

    @property
    def exitcode(self) -> int | None:
        """None while it runs; then its exit status, or minus the number of the signal that ended it."""
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
        # Nothing is told when the server is gone: its children were killed with it.
        return int(STATUS.unpack(told)[0]) if len(told) == STATUS.size else -signal.SIGKILL

    @property
    def stopped(self) -> bool:
        """Whether a signal has stopped the process. (One that a debugger holds is in another state.)"""
        try:
            return bool(psutil.Process(self.pid).status() == psutil.STATUS_STOPPED)
        except psutil.Error:
            return False

    def kill(self) -> None:
        """End the process and whatever it has started, at once."""
        if self._open and not self._killed and self.pid > 0 and self.exitcode is None:  # 0: us, and who has started us
            self._killed = True
            kill_group(self.pid)

    def close(self, patience: float = 5.0) -> None:
        """Kill it if it runs, and give back what belongs to it: the connection, the log. Its end is awaited for
        ``patience`` seconds. It runs no more before that: the system needs milliseconds to clear its memory."""
        if self._open:
            self.kill()
            self.wait(patience)
            self._open = False
            self.conn.close()
            os.close(self._status)
            self._release()

    @property
    def fault(self) -> str:
        """What Lockstep's own code in the child has failed with; "" when that is not why it ended."""
        last = [line for line in self.tail().splitlines() if line and not line.startswith(" ")][-1:]
        return "".join(last) if self._exitcode == FAULT else ""

    @property
    def last_words(self) -> str:
        """What C++ says of an exception that nobody has caught, before it ends the process; "" if that is not why."""
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


def kill_group(pid: int) -> None:
    """End a process and whatever it has started, at once. It has no group of its own in its first microseconds."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


SECRETS = ("LOCKSTEP_SEED",)  # variables that no child is given: a learner's function runs there


def environment_of_children() -> dict[str, str]:
    """What a process that is started here may know of this one's environment."""
    return {name: value for name, value in os.environ.items() if name not in SECRETS}


def setup(entry: str, env: Mapping[str, str] | None) -> bytes:
    """What a child must know of its caller. A rank computes with one thread: ranks are what is parallel here."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = "/"
    environment = {**environment_of_children(), **threads, **(env or {})}
    # The environment is text in text: only who needs it opens it.
    told = {"entry": entry, "cwd": cwd, "path": sys.path, "env": json.dumps(environment)}
    return json.dumps(told).encode("utf-8", "surrogateescape")


def take_over(environment: str) -> None:
    """Have the environment that a setup tells of, and no other."""
    os.environ.clear()
    os.environ.update(json.loads(environment))


def identity(conn: Connection) -> tuple[int, int] | None:
    """Which file it is; None for one that was closed behind its back."""
    with contextlib.suppress(OSError):
        found = os.fstat(conn.fileno())
        return found.st_dev, found.st_ino
    return None


def enter(conn: Connection, prepared: bool = False) -> None:
    """Become what the setup on ``conn`` says, run its entry point, and end. Never returns. ``prepared``: the process
    has its environment, and what belongs to it."""
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
    except EOFError:  # the starter is gone, or has dropped this child
        os.killpg(0, signal.SIGKILL)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        if identity(conn) != given:
            os._exit(CUT)  # at once: nobody knows what stdout and stderr are now
        traceback.print_exc(file=sys.__stderr__)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(status & 0xFF)
