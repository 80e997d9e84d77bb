"""torch's profilers, although all ranks share a process. Private API of torch, for 2.13 to 2.15.

A profiler records the operations of its own thread, so each rank may have one. But the library under all of them
(Kineto) keeps one trace for a process: the first profiler to stop ends it, and the next one to stop dereferences a
trace that is not there (SIGSEGV; two threads of plain torch do the same). So whoever stops when the trace has ended
has it begun again first, by a thread that does nothing else: for a thread may begin only one.

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
    begin, end = profiler._enable_profiler, profiler._disable_profiler
    lasts = [False]  # the process's trace

    def enable(*args: Any) -> None:
        begin(*args)
        lasts[0] = True

    def disable() -> Any:
        if not lasts[0]:
            in_a_thread_of_its_own(lambda: begin_trace(begin))
        lasts[0] = False
        return end()

    setattr(profiler, "_enable_profiler", enable)  # noqa: B010
    setattr(profiler, "_disable_profiler", disable)  # noqa: B010


def begin_trace(begin: Callable[..., None]) -> None:
    config = profiler.profile(use_kineto=True).config()
    profiler._prepare_profiler(config, ON_CPU)
    begin(config, ON_CPU)


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
