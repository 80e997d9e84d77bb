"""What a process has once, and each rank has for itself while it holds the baton: exchanged when the baton passes.

    cwd, umask      exchanged once a rank has called ``os.chdir`` or ``os.umask``: until then no switch costs anything
    for a script    also ``sys.argv``, ``sys.path``, ``sys.stdout`` and ``sys.stderr``, and multiprocessing's start
                    method, which a program sets by assignment

A thread that a rank has started runs whoever holds the baton, so it sees the holder's.
"""

from __future__ import annotations

import functools
import multiprocessing.context
import os
import sys
from collections.abc import Callable
from typing import Any

from lockstep.virtual.rank_threads import current

_default_context: Any = getattr(multiprocessing.context, "_default_context")  # noqa: B009
ASSIGNED: tuple[tuple[Any, str], ...] = (
    (sys, "argv"),
    (sys, "path"),
    (sys, "stdout"),
    (sys, "stderr"),
    (_default_context, "_actual_context"),
)


class ProcessState:
    """``script``: whether what a program assigns is exchanged, too."""

    def __init__(self, ranks: int, script: bool = False) -> None:
        self._running = 0
        self._directories: dict[int, int] = {}  # of ranks that have called chdir, and -1: where all others are
        self._umasks: dict[int, int] = {}  # likewise
        self._chdir, self._umask = os.fchdir, os.umask
        self._assigned = [[getattr(*of) for of in ASSIGNED] for _ in range(ranks)] if script else []

    def install(self) -> None:
        """Watch ``chdir`` and ``umask``. Once, in a process of a virtual cluster."""
        for name in ("chdir", "fchdir"):
            setattr(os, name, self._moving(getattr(os, name)))
        setattr(os, "umask", self._masking)  # noqa: B010
        if self._assigned:  # streams may have been replaced since
            self._assigned = [[getattr(*of) for of in ASSIGNED] for _ in self._assigned]

    def switch_to(self, rank: int) -> None:
        """The baton has passed to ``rank``."""
        before, self._running = self._running, rank
        if self._directories:
            self._exchange(self._directories, before, rank, self._chdir)
        if self._umasks:
            self._exchange(self._umasks, before, rank, self._umask)
        if self._assigned:
            self._assigned[before] = [getattr(*of) for of in ASSIGNED]
            for (owner, name), value in zip(ASSIGNED, self._assigned[rank], strict=True):
                setattr(owner, name, value)

    @staticmethod
    def _exchange(of: dict[int, int], before: int, rank: int, put: Callable[[int], Any]) -> None:
        mine = of.get(rank, of[-1])
        if mine != of.get(before, of[-1]):
            put(mine)

    def _moving(self, real: Callable[..., None]) -> Callable[..., None]:
        """``os.chdir`` or ``os.fchdir``. A directory is kept open, as its name may be another one's tomorrow."""

        @functools.wraps(real)
        def move(where: Any) -> None:
            rank = current()
            if rank is None:
                real(where)
                return
            here = opened() if -1 not in self._directories else None
            try:
                real(where)
            except OSError:
                if here is not None:
                    os.close(here)
                raise
            if here is not None:
                self._directories[-1] = here
            if rank in self._directories:
                os.close(self._directories.pop(rank))
            self._directories[rank] = opened()

        return move

    def _masking(self, mask: int) -> int:
        """``os.umask``."""
        before, rank = self._umask(mask), current()
        if rank is not None:
            self._umasks.setdefault(-1, before)
            self._umasks[rank] = mask
        return before


def opened() -> int:
    """A descriptor of the current directory."""
    return os.open(".", os.O_RDONLY | os.O_DIRECTORY)
