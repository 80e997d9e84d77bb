"""``atexit`` for a rank: its handlers run when its script ends.

The rank's process ends later, or is killed, and on the virtual cluster it is the process of all ranks.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from lockstep import places

F = TypeVar("F", bound=Callable[..., object])
Handler = tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]


class ExitHandlers:
    """The handlers of each rank. ``whose()`` is the calling thread's rank, or None for a thread of no rank.

    The handlers of such a thread are the process's, as are those of a process that a rank forks, such as a
    DataLoader's worker."""

    def __init__(self, whose: Callable[[], int | None]) -> None:
        self._of_thread, self._process = whose, os.getpid()
        self._of: dict[int, list[Handler]] = {}
        self._register, self._unregister = atexit.register, atexit.unregister

    def _whose(self) -> int | None:
        return self._of_thread() if os.getpid() == self._process else None

    def register(self, func: F, /, *args: Any, **kwargs: Any) -> F:
        """``atexit.register``."""
        rank = self._whose()
        if rank is None:
            self._register(func, *args, **kwargs)
        else:
            self._of.setdefault(rank, []).append((func, args, kwargs))
        return func

    def unregister(self, func: Callable[..., object], /) -> None:
        """``atexit.unregister``."""
        rank = self._whose()
        if rank is None:
            self._unregister(func)
        elif rank in self._of:
            self._of[rank] = [handler for handler in self._of[rank] if handler[0] != func]

    def run(self) -> None:
        """Call the handlers of the calling rank, the last one first. As in Python, one that raises is told and does not
        keep the others from being called; SystemExit is ignored."""
        rank = self._whose()
        left = [] if rank is None else self._of.get(rank, [])
        while left:
            func, args, kwargs = left.pop()
            try:
                func(*args, **kwargs)
            except SystemExit:
                pass
            except Exception as error:
                told = places.learners_traceback(error)
                print(f"Exception ignored in atexit callback {func!r}:\n{told}", file=sys.stderr)


_handlers: ExitHandlers | None = None  # in a process of ranks


def install(whose: Callable[[], int | None]) -> None:
    """Let ``atexit`` keep the handlers of ranks by rank. Once, in a process of ranks."""
    global _handlers
    _handlers = ExitHandlers(whose)
    for name in ("register", "unregister"):
        setattr(atexit, name, getattr(_handlers, name))


def run() -> None:
    """The calling rank's program has ended: call its handlers."""
    if _handlers:
        _handlers.run()
