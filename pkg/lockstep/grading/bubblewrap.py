"""A sandbox by bubblewrap, for machines that allow it what they do not allow us: where it is setuid, or an AppArmor
profile names it.

::

    judge ──starts──▶ bwrap: namespaces, the view, no capabilities ──▶ python, which loads torch anew ──▶ runs

A fork of a warm process starts in milliseconds; this takes seconds, for each answer. The isolation is the same: file
system (``sandbox_view``), limits, and the system calls that are refused (``sandbox_filter``).
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from lockstep.errors import WorldUnavailable
from lockstep.forking import starter
from lockstep.forking.child import Child
from lockstep.forking.spawned import server_environment
from lockstep.grading import sandbox, sandbox_filter, sandbox_worker
from lockstep.grading.sandbox_view import MEMORY, WRITTEN, View, around_memory, lies_in

PROGRAM = "bwrap"
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
NAMESPACES = ("user", "pid", "net", "ipc", "uts", "cgroup-try")


class Wrapped(Child):
    """bubblewrap's own process: it ends with the status of the process that it wraps, and kills that if it is ended."""

    def __init__(self, process: subprocess.Popen[bytes], conn: Connection, log: int) -> None:
        super().__init__(process.pid, conn, os.pidfd_open(process.pid), f"/proc/self/fd/{log}", lambda: os.close(log))
        self._process = process

    def _collect(self) -> int:
        return self._process.wait()


def start(view: View) -> Wrapped:
    """A process in a new sandbox that sees this view. It waits for the names of the modules to load, and goes on as
    ``sandbox_worker.serve`` does. Raises WorldUnavailable where there is no bubblewrap."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise WorldUnavailable("bubblewrap is not installed here.", f"Install bubblewrap. {sandbox.UNSAFE}")
    ours, theirs = Pipe(duplex=True)
    log = os.memfd_create("sandbox-log")
    texts = {name: starter.memory(text.format(user=view.user).encode()) for name, text in WRITTEN.items()}
    others = {path: starter.memory(content) for path, content in view.replaced}
    whose = _whose(view)
    python = [sys.executable, "-P", "-m", __name__, str(theirs.fileno())]
    try:
        process = subprocess.Popen(
            [program, *_options(view, texts, others), "--", *python],
            pass_fds=[theirs.fileno(), *texts.values(), *others.values()],
            cwd="/",
            env={name: value for name, value in server_environment().items() if name in KEPT} | sandbox.ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            user=whose,
            group=whose,
            extra_groups=None if whose is None else [],
        )
    except OSError as error:
        os.close(log)
        ours.close()
        raise WorldUnavailable(f"bubblewrap could not be started: {error.strerror}.", sandbox.UNSAFE) from None
    finally:
        theirs.close()
        for file in (*texts.values(), *others.values()):
            os.close(file)
    return Wrapped(process, ours, log)


def _whose(view: View) -> int | None:
    """The user that ``bwrap`` is run as: nobody, where root grades and nobody can reach all of the view; else None."""
    folders = {parent for path in view.shown for parent in Path(path).parents}
    reachable = all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
    return sandbox.NOBODY if reachable and sandbox.is_nobody() else None


def _options(view: View, texts: dict[str, int], others: dict[str, int]) -> Iterator[str]:
    """In the order in which bubblewrap carries them out. ``texts``, ``others``: open files, by what they are there."""
    yield from (f"--unshare-{kind}" for kind in NAMESPACES)
    yield from ("--uid", str(view.user), "--gid", str(view.user), "--hostname", "localhost")
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
    above, below = around_memory(view.shown)
    yield from _shown(above)
    for name, file in texts.items():
        yield from ("--ro-bind-data", str(file), f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev")
    for folder in MEMORY:
        yield from ("--perms", "1777", "--size", str(view.room), "--tmpfs", folder)
    yield from _shown(below)
    for path in view.covered:
        if os.path.isdir(path) and any(lies_in(path, shown) for shown in view.shown):
            yield from ("--perms", "0755", "--size", "4096", "--tmpfs", path, "--remount-ro", path)
    for path, file in others.items():
        if any(lies_in(path, shown) for shown in view.shown):
            yield from ("--ro-bind-data", str(file), path)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp")


def _shown(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        link = os.readlink(path) if os.path.islink(path) else None
        yield from ("--symlink", link, path) if link is not None else ("--ro-bind", path, path)


def main(fd: int) -> None:
    """Limits and filter first; then what it takes to run an answer; and only then what to run."""
    conn = Connection(fd)
    limits: sandbox.Limits
    modules: Sequence[str]
    limits, modules, answer = conn.recv()
    limits.set()
    sandbox_filter.install()
    sandbox_worker.load(modules, answer)
    sandbox_worker.serve(conn)


if __name__ == "__main__":
    main(int(sys.argv[1]))
