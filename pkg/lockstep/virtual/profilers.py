"""torch's profilers, although all ranks share a process. Private API of torch, for 2.13 to 2.15.

A profiler records the operations of its own thread, so each rank may have one. But the library under all of them
(Kineto) keeps one trace for a process: the first profiler to stop ends it, and the next one to stop dereferences a
trace that is not there (SIGSEGV; two threads of plain torch do the same). So whoever stops when the trace has ended
has it begun again first, by a thread that does nothing else: for a thread may begin only one. And whoever begins after
another's stop has ended what it had prepared prepares again.

A collective reaches a virtual group without passing C++'s dispatcher, which would tell the profiler. The group marks it
itself, as gloo does: "virtual:all_reduce".

What a profiler tells are the host's seconds. Virtual time is in the Trace.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import Any

from torch._C._autograd import _profiler_enabled as profiling
from torch._C._profiler import ProfilerActivity, _RecordFunctionFast
from torch.autograd import profiler as torchs

profiler: Any = torchs  # private names
ON_CPU = {ProfilerActivity.CPU}

__all__ = ["install", "mark", "profiling"]


def mark(name: str) -> None:
    """Leave a mark in the profiler of the rank that calls, which has one: see ``profiling``."""
    with _RecordFunctionFast(f"virtual:{name}"):
        pass


def install() -> None:
    """Once in a process."""
    trace = _Trace()
    profiler._prepare_profiler, profiler._enable_profiler = trace.prepare, trace.enable
    profiler._disable_profiler = trace.disable


class _Trace:
    """The process's one trace: it is prepared, lasts, and is over."""

    def __init__(self) -> None:
        self._prepare, self._begin = profiler._prepare_profiler, profiler._enable_profiler
        self._end = profiler._disable_profiler
        self._prepared = self._lasts = False

    def prepare(self, *args: Any, **options: Any) -> None:
        """To prepare one that lasts would cancel it."""
        if not self._prepared:
            self._prepare(*args, **options)
        self._prepared = True

    def enable(self, config: Any, activities: Any, *rest: Any) -> None:
        """What this rank had prepared may have ended since, with another rank's."""
        self.prepare(config, activities)
        self._begin(config, activities, *rest)
        self._lasts = True

    def disable(self) -> Any:
        if not self._lasts:
            config = profiler.profile(use_kineto=True).config()
            in_a_thread_of_its_own(lambda: self.enable(config, ON_CPU))
        self._prepared = self._lasts = False
        return self._end()


def in_a_thread_of_its_own(act: Callable[[], None]) -> None:
    """Not of ``threading``, whose threads belong to the rank that starts them (threads.py)."""
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            act()
        finally:
            done.release()

    _thread.start_new_thread(run, ())
    done.acquire()
