"""Spawned spares, for systems on which a process that has torch loaded must not fork.

On macOS a fork after Accelerate has been loaded can crash. So a few fresh interpreters with torch imported are kept
waiting; each becomes a child once. LOCKSTEP_START=spawn selects this method on Linux, too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterable
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from lockstep.forking.child import STATUS, Child, enter, environment_of_children
from lockstep.forking.preloaded import RARE, load, preload

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_THREAD_TIMEOUT": "4"}
_AT_MOST = 4  # that wait at a time: each takes about 200 MB


class Spares:
    """The starter's side, with the interface of ``starter.Forked``."""

    def __init__(self) -> None:
        self.ready = True  # at once: spares load torch in the background
        self._waiting: deque[Child] = deque()
        self._asked = 0
        self._lifeline, self._watched = os.pipe()  # (read end, write end): closed with this process

    def alive(self) -> bool:
        return True

    def wait_until_ready(self) -> None:
        """Nothing to wait for."""

    def load(self, modules: Iterable[str]) -> None:
        """Nothing to do: each child imports what it needs."""

    def start(self, entry: str, n: int, told: bytes, started: list[Child]) -> None:
        """Start ``n`` children that run ``entry``, appended to ``started``: spares as far as there are any. Then spawn
        as many new spares."""
        for _ in range(n):
            started.append(self._next())
            started[-1].conn.send_bytes(told)
        while len(self._waiting) < min(n, _AT_MOST):
            self._waiting.append(self._spawn())

    def _next(self) -> Child:
        while self._waiting and self._waiting[0].exitcode is not None:
            self._waiting.popleft().close()
        return self._waiting.popleft() if self._waiting else self._spawn()

    def _spawn(self) -> Child:
        ours, theirs = Pipe(duplex=True)
        log, path = tempfile.mkstemp(prefix="lockstep-rank-")
        status, report = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "lockstep.forking.spawned", str(theirs.fileno()), str(self._lifeline)],
                pass_fds=[theirs.fileno(), self._lifeline],
                env=server_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(log)
        threading.Thread(target=_report_end, args=(process, report), daemon=True).start()
        return Child(process.pid, ours, status, path, lambda: Path(path).unlink(missing_ok=True))

    def close(self) -> None:
        while self._waiting:
            self._waiting.pop().close()
        self.forget()

    def forget(self) -> None:
        self._waiting.clear()
        os.close(self._lifeline)
        os.close(self._watched)


def _report_end(process: subprocess.Popen[bytes], report: int) -> None:
    status = process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):  # processes that it has left behind
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.write(report, STATUS.pack(status))
    os.close(report)


def server_environment() -> dict[str, str]:
    """The environment of a process that preloads torch: one thread, and this package importable.

    A rank may request more BLAS threads; OPENBLAS_THREAD_TIMEOUT lets them sleep when idle, instead of spinning for
    2**26 cycles."""
    packages = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([packages, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**environment_of_children(), **ONE_THREAD, "PYTHONPATH": path}


def _end_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    threading.Thread(target=_end_with_parent, args=(int(sys.argv[2]),), daemon=True).start()
    preload()
    load(RARE)
    enter(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
