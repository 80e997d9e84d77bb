"""Signal handlers of a rank: taken, and never called.

Python delivers signals to the main thread of a process, and ranks are other threads, in which ``signal.signal`` raises
ValueError. A program that wants to save its state before it is terminated would end there. No rank of a virtual cluster
is sent a signal, so its handlers are kept, returned when they are asked for, and a sentence says that they are idle.
"""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Callable
from typing import Any

from lockstep import places
from lockstep.virtual.rank_threads import current

Handler = Any  # a function of a number and a frame, SIG_IGN, SIG_DFL, or None


class Signals:
    """The handlers that ranks have set, by rank and signal."""

    def __init__(self) -> None:
        self._handlers: dict[tuple[int, int], Handler] = {}
        self._signal, self._getsignal = signal.signal, signal.getsignal
        self._told = False

    def install(self) -> None:
        """Once, in a process of a virtual cluster."""
        setattr(signal, "signal", self.signal)  # noqa: B010
        setattr(signal, "getsignal", self.getsignal)  # noqa: B010
        for name, nothing in (("alarm", 0), ("setitimer", (0.0, 0.0)), ("siginterrupt", None)):
            setattr(signal, name, self._idle(getattr(signal, name), nothing))

    def signal(self, signalnum: int, handler: Handler) -> Handler:
        """``signal.signal``. Raises TypeError and ValueError as that does."""
        rank, number = current(), signal.Signals(signalnum)
        if rank is None:
            return self._signal(signalnum, handler)
        if not (callable(handler) or handler in (signal.SIG_IGN, signal.SIG_DFL)):
            raise TypeError("signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
        before = self.getsignal(number)
        self._handlers[rank, number] = handler
        if callable(handler):
            self._tell(f"The handler of {number.name}")
        return before

    def getsignal(self, signalnum: int) -> Handler:
        """``signal.getsignal``."""
        rank, number = current(), signal.Signals(signalnum)
        return self._getsignal(number) if rank is None else self._handlers.get((rank, number), signal.SIG_DFL)

    def _idle(self, real: Callable[..., Any], nothing: Any) -> Callable[..., Any]:
        """``alarm`` and its like: a signal that would end the process of all ranks."""

        @functools.wraps(real)
        def call(*args: Any, **kwargs: Any) -> Any:
            if current() is None:
                return real(*args, **kwargs)
            self._tell(f"signal.{real.__name__}")
            return nothing

        return call

    def _tell(self, what: str) -> None:
        """Once in a run."""
        if not self._told:
            self._told = True
            place = places.here()
            at = f" at {place}" if place.file else ""
            print(f"{what}{at} does nothing: ranks of a virtual cluster get no signals.", file=sys.stderr)
