"""Processes that a rank has left behind: they left its session (setsid), or their parent has ended (a double fork).

No signal to the rank's process group reaches them. But Linux gives an orphan to its nearest ancestor that is a
subreaper (prctl(2), PR_SET_CHILD_SUBREAPER)::

    server (a subreaper) ──▶ rank (a subreaper) ──▶ shell ──▶ daemon
                                   ▲                ends         │
                                   └─────── while the rank lives ┘     and once it has ended, the server

So a child of the server that it has not forked was left behind by a rank that has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Set
from pathlib import Path

import psutil

from lockstep.forking.child import kill_group

_PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 1.5  # seconds in which all processes should have ended after they were killed
PAUSE = 0.005


def adopt() -> None:
    """Let orphans among the descendants of this process become its children. Its forks have to ask for it again."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill(known: Set[int]) -> None:
    """Kill the children of this process, which has one thread, except ``known``. What they leave behind in turn is for
    the next call: reap them, and call it again."""
    for pid in children().difference(known):
        kill_group(pid)


def end() -> None:
    """Kill and reap all children of this process, and what they leave behind."""
    until = time.monotonic() + PATIENCE
    with contextlib.suppress(ChildProcessError):  # none is left
        while time.monotonic() < until:
            kill(frozenset())
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(PAUSE)


def children() -> set[int]:
    """The children of this process, which has one thread."""
    me = os.getpid()
    try:
        return set(map(int, Path(f"/proc/{me}/task/{me}/children").read_text().split()))
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        return {child.pid for child in psutil.Process(me).children()}
