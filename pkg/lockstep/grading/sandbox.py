"""A sandbox for one answer: a fork of a warm process enters it, and only then receives what to run.

::

    warm process ──fork──▶ outer ──unshare: user, mount, pid, network, ipc, uts, cgroup──┐
                             │   waits for                                               ▼
                             └──────────────▶ init, process 1 of the sandbox: its view, its limits, no capabilities
                                                │   reaps orphans
                                                └──────────────▶ the process that goes on, and all that it starts

When the outer process ends, or is killed, init is killed; and when process 1 ends, the kernel ends every other process
of its namespace, however often it has forked and whatever signals it ignores. Nothing can leave.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import stat
import sys
from collections.abc import Collection
from dataclasses import dataclass

from lockstep.errors import WorldUnavailable
from lockstep.grading import sandbox_filter
from lockstep.grading import syscalls as kernel
from lockstep.grading.sandbox_view import View

LEARNER, NOBODY = 1000, 65534  # the user inside, and who that is outside where root grades
ENVIRONMENT = {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "learner", "LOGNAME": "learner"}
FORK, BUBBLEWRAP = "fork", "bubblewrap"  # kinds of sandboxes: this one, and another that starts cold
UNSAFE = "`--unsafe` grades without a sandbox: for submissions that you have read."


@dataclass(frozen=True)
class Limits:
    """For each process, by the kernel; ``processes`` is for all together, where the kernel counts them so."""

    seconds: int = 600  # of processor time
    memory: int = 3 << 30  # bytes of private memory
    file: int = 256 << 20  # bytes of the largest file, /tmp and standard output included
    files: int = 4096  # that are open
    processes: int = 1000  # and threads

    def set(self) -> None:
        wanted = {
            resource.RLIMIT_CPU: self.seconds,
            resource.RLIMIT_DATA: self.memory,
            resource.RLIMIT_FSIZE: self.file,
            resource.RLIMIT_NOFILE: self.files,
            resource.RLIMIT_NPROC: self.processes,
            resource.RLIMIT_CORE: 0,
        }
        for limit, value in wanted.items():
            _, most = resource.getrlimit(limit)
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(limit, (value, value))


def enter(view: View, limits: Limits, kept: Collection[int]) -> None:
    """Go on in a sandbox, with these open files alone. Returns in another process than it was called in; the one that
    called ends when that one does, with its status. Raises WorldUnavailable where this machine allows no sandbox."""
    _close_but(kept)
    users = _users()
    try:
        _unshare(users)
    except OSError as error:
        raise WorldUnavailable(
            _refused(error),
            "Allow user namespaces (in a container: --security-opt seccomp=unconfined), or install a bubblewrap that "
            f"may make them. {UNSAFE}",
        ) from None
    _die_with_parent()
    _split()
    try:
        socket.sethostname("localhost")
        view.enter()
        kernel.bring_loopback_up()
    except OSError as error:
        raise WorldUnavailable(_refused(error), UNSAFE) from None
    limits.set()
    os.environ.update(ENVIRONMENT)
    kernel.forgo_capabilities()
    os.setresgid(LEARNER, LEARNER, LEARNER)
    os.setresuid(LEARNER, LEARNER, LEARNER)
    kernel.prctl(kernel.DUMPABLE, 1)
    kernel.drop_capabilities()
    _die_with_parent()
    sandbox_filter.install()
    _split()
    _die_with_parent()


def _refused(error: OSError) -> str:
    return f"This machine allows no sandbox: {error.strerror}{f' ({error.filename})' if error.filename else ''}."


def _users() -> str:
    """The line of /proc/self/uid_map: the user inside, the user outside, how many."""
    return f"0 0 1\n{LEARNER} {NOBODY} 1" if is_nobody() else f"{LEARNER} {os.getuid()} 1"


def is_nobody() -> bool:
    """Whether the learner is the user nobody outside, and not the grader: where that is root, who has rights even
    without capabilities, and nobody can read Python's files."""
    return os.getuid() == 0 and _has_nobody() and _all_may_read()


def _has_nobody() -> bool:
    """Whether root is so of more users than itself: in a container it may not be."""
    maps = [list(map(int, line.split())) for line in _text("/proc/self/uid_map").splitlines()]
    return _text("/proc/self/setgroups").strip() == "allow" and any(a <= NOBODY < a + n for a, _, n in maps)


def _text(path: str) -> str:
    with open(path) as file:
        return file.read()


def _all_may_read() -> bool:
    paths = [os.__file__, sys.executable, __file__, *(p for p in sys.path if os.path.isdir(p))]
    return all(os.stat(p).st_mode & stat.S_IROTH for p in map(os.path.realpath, paths) if os.path.exists(p))


def _unshare(users: str) -> None:
    """The map of users is written from outside: who is inside already may only map itself."""
    if "\n" not in users:
        group = os.getegid()  # inside, it is nobody's until it has a map
        kernel.unshare(kernel.NAMESPACES)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", users)
        _write("/proc/self/gid_map", f"{LEARNER} {group} 1")
        return
    os.setgroups([])
    ready, begin = os.pipe()
    outer = os.getpid()
    helper = os.fork()
    if helper == 0:
        with contextlib.suppress(OSError):
            if os.read(ready, 1):
                for kind in ("uid", "gid"):
                    _write(f"/proc/{outer}/{kind}_map", users)
                os._exit(0)
        os._exit(1)
    try:
        kernel.unshare(kernel.NAMESPACES)
        os.write(begin, b"1")
    finally:
        os.close(begin)
        os.close(ready)
        _, status = os.waitpid(helper, 0)
    if status:
        raise PermissionError(1, "its users cannot be mapped", "uid_map")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _split() -> None:
    """Go on in a child; this process waits for it, reaps orphans, and exits with the child's status."""
    child = os.fork()
    if child == 0:
        return
    os.closerange(3, 1 << 20)
    while True:
        try:
            ended, status = os.waitpid(-1, 0)
        except InterruptedError:
            continue
        except ChildProcessError:
            os._exit(1)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _die_with_parent() -> None:
    """PR_SET_PDEATHSIG; again after every change of users and rights, which resets it."""
    kernel.prctl(kernel.PDEATHSIG, signal.SIGKILL)


def _close_but(kept: Collection[int]) -> None:
    """Standard input, output and error stay open, too; the last two are the log of this process."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):
                os.close(fd)
