"""State that torch keeps once in a process although it belongs to a rank. Private API of torch, for 2.13 to 2.15.

Profilers
    A profiler records the operations of its own thread, so each rank may have one. But the library under all of them
    (Kineto) keeps one trace for a process: the first profiler to stop ends it, and the next one to stop dereferences a
    trace that no longer exists (SIGSEGV; two threads of plain torch do the same). So a profiler that stops after the
    trace has ended starts it again first, from a thread of its own, since a thread may start only one. And a profiler
    that starts after another one's stop has discarded what it had prepared prepares again.

    A collective reaches a virtual group without passing the C++ dispatcher, which would notify the profiler. The group
    records it itself, as gloo does: "gloo:all_reduce", asynchronous, with the shapes of its tensors. Profilers show the
    host's seconds; virtual time is in the Trace.

loss_parallel
    replaces handlers in DTensor's one table on entry and removes them on exit: the first rank to leave would remove
    them for all others.

torch.compile
    traces into every Python function that runs while it does, and so into the clock, where it failed.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._C._autograd import _profiler_enabled as profiling
from torch._C._dynamo import eval_frame
from torch._C._profiler import ProfilerActivity, _RecordFunctionFast
from torch.autograd import profiler as torchs
from torch.distributed import distributed_c10d
from torch.nn.parallel import DistributedDataParallel

from lockstep.virtual.after_import import after_import

profiler: Any = torchs  # private names
ON_CPU = {ProfilerActivity.CPU}
GLOO_SETTINGS, GLOO_THREADS = ("socket_ifname", "device_transport"), 2
_local = threading.local()
_marked: set[str] = set()  # the names of communications

__all__ = [
    "called",
    "count_loss_parallel",
    "hide_from_compiler",
    "mark",
    "marked_once",
    "name_backend_in_ddps_data",
    "profiling",
    "share_kineto",
]


def called(group: Any) -> str:
    """The backend of a group that ``get_backend`` names; that of the CPU, if there is one for each device."""
    name = str(distributed_c10d._world.pg_map.get(group, ("virtual",))[0])
    return dict(part.split(":") for part in name.split(",")).get("cpu", name) if ":" in name else name


def name_backend_in_ddps_data() -> None:
    """Let DDP's logged data name the backend that ``get_backend`` names, with gloo's settings where it is gloo. Once in
    a process."""
    logged: Callable[[Any], dict[str, Any]] = DistributedDataParallel._get_ddp_logging_data

    def as_named(model: Any) -> dict[str, Any]:
        data = {**logged(model), "backend_name": called(model.process_group)}
        if data["backend_name"] == "gloo":
            of_environment = {f"gloo_{s}": os.environ.get(f"GLOO_{s.upper()}", "N/A") for s in GLOO_SETTINGS}
            data |= of_environment | {"gloo_num_threads": GLOO_THREADS}
        return data

    setattr(DistributedDataParallel, "_get_ddp_logging_data", as_named)  # noqa: B010


def mark(name: str, tensors: Sequence[torch.Tensor]) -> None:
    """Record a communication in the calling rank's profiler; only where ``profiling()`` says that it has one."""
    if _local.__dict__.get("silent"):
        return
    _marked.add(name)
    with _RecordFunctionFast(name, list(tensors)):
        pass


@contextmanager
def marked_once(name: str, tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """A context of several operations that the calling rank's profiler lists as one."""
    if profiling():
        mark(name, tensors)
    _local.silent = True
    try:
        yield
    finally:
        _local.silent = False


def share_kineto() -> None:
    """Let each rank have a profiler of its own. Once in a process."""
    trace = _Trace()
    profiler._prepare_profiler, profiler._enable_profiler = trace.prepare, trace.enable
    profiler._disable_profiler = trace.disable
    parse = profiler.profile._parse_kineto_results
    profiler.profile._parse_kineto_results = lambda *args, **options: asynchronous(parse(*args, **options))


def asynchronous(events: list[Any]) -> list[Any]:
    """A profiler's events, in which communications are asynchronous. (Only C++ can record them as such.)"""
    for event in events:
        event.is_async = event.is_async or event.name in _marked
    return events


class _Trace:
    """The process's one Kineto trace: prepared, then recording, then stopped."""

    def __init__(self) -> None:
        self._prepare, self._begin = profiler._prepare_profiler, profiler._enable_profiler
        self._end = profiler._disable_profiler
        self._prepared = self._recording = False

    def prepare(self, *args: Any, **options: Any) -> None:
        """Preparing again would cancel a trace that is recording."""
        if not self._prepared:
            self._prepare(*args, **options)
        self._prepared = True

    def enable(self, config: Any, activities: Any, *rest: Any) -> None:
        """What this rank prepared may have been stopped since, by another rank."""
        self.prepare(config, activities)
        self._begin(config, activities, *rest)
        self._recording = True

    def disable(self) -> Any:
        if not self._recording:
            config = profiler.profile(use_kineto=True).config()
            in_a_thread_of_its_own(lambda: self.enable(config, ON_CPU))
        self._prepared = self._recording = False
        return self._end()


def in_a_thread_of_its_own(act: Callable[[], None]) -> None:
    """Run ``act`` in a thread that belongs to no rank, as one of ``threading`` would (``rank_threads``)."""
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            act()
        finally:
            done.release()

    _thread.start_new_thread(run, ())
    done.acquire()


def count_loss_parallel() -> None:
    """Keep the handlers of ``loss_parallel`` until the last rank has left it. Once in a process."""
    after_import("torch.distributed.tensor.parallel.loss", count_in)


def count_in(loss: Any) -> None:
    """Let the module count references: to its handlers."""
    enable: Callable[[], None] = loss._enable_custom_loss_ops
    disable: Callable[[], None] = loss._disable_custom_loss_ops
    inside = [0]

    def enter() -> None:
        inside[0] += 1
        enable()

    def leave() -> None:
        inside[0] -= 1
        if not inside[0]:
            disable()

    setattr(loss, "_enable_custom_loss_ops", enter)  # noqa: B010
    setattr(loss, "_disable_custom_loss_ops", leave)  # noqa: B010


def hide_from_compiler(*functions: Any) -> None:
    """Let torch.compile skip these functions and all functions that they call."""
    if not hasattr(eval_frame, "set_code_exec_strategy"):
        return
    skip = eval_frame._FrameAction.SKIP
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))
