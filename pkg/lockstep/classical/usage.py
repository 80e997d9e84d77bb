"""The CPU time of a call, by who spent it: this thread, other threads of this process, or other processes.

The kernel counts the CPU time of each thread and process while it really runs. Other programs increase the wall-clock
time of a call, but hardly its CPU time. That is why this can be measured on a busy machine.
"""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

SERVER = "lockstep.forking.forkserver"


@dataclass(frozen=True)
class Usage:
    """Seconds of one call, and how many threads and child processes there were."""

    wall: float
    main: float  # CPU time of the thread that made the call
    helpers: float  # CPU time of the other threads of this process, those that have ended included
    children: float  # CPU time of child processes
    others: float  # CPU time of all other programs on this machine meanwhile
    threads: int  # the most threads of this process at once
    workers: int  # threads and processes that did at least a tenth of the work each

    @property
    def cpu(self) -> float:
        return self.main + self.helpers + self.children

    @property
    def elsewhere(self) -> float:
        """The share of the CPU time that was spent outside the calling thread: 0 to 1."""
        return (self.helpers + self.children) / self.cpu if self.cpu else 0.0


def usage(call: Callable[[], Any]) -> Usage:
    """Measure ``call()``, which may leave threads and processes behind."""
    busy, children = _busy(), children_cpu()
    with light_workers(), Census() as census:
        wall, main, process = time.perf_counter(), time.thread_time(), time.process_time()
        call()
        wall, main = time.perf_counter() - wall, time.thread_time() - main
        process = time.process_time() - process
    each = _spent_since(children)
    helpers = max(0.0, process - main - census.cpu)
    elsewhere = helpers + sum(each.values())
    least = (main + elsewhere) / 10
    workers = sum(cpu >= least for pid, cpu in [*each.items(), *census.spent().items()] if pid)
    others = max(0.0, _busy() - busy - main - elsewhere)
    return Usage(wall, main, helpers, sum(each.values()), others, census.most, max(1, workers))


@contextmanager
def light_workers() -> Iterator[None]:
    """Remove warning filters that slow down workers: scikit-learn passes its caller's filters to each worker, and one
    that names a class of torch makes the worker load torch, for seconds, though its task needs none."""
    with warnings.catch_warnings():
        warnings.filters = [f for f in warnings.filters if f[2].__module__.split(".")[0] not in ("torch", "IPython")]
        yield


def children_cpu() -> dict[int, float]:
    """CPU seconds of each child process by its id; under 0, of all that have ended. Lockstep's own server, which loads
    torch in the background, does not count."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {0: ended.ru_utime + ended.ru_stime}
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(psutil.Error, OSError):
            if _is_server(psutil.Process(pid)):
                continue
            found[pid] = max(_precisely(pid), sum(psutil.Process(pid).cpu_times()[:2]))
    return found


def _spent_since(before: dict[int, float]) -> dict[int, float]:
    """What each child process has spent since. One that has ended meanwhile adds all of its life to those that ended,
    of which ``before`` has the first part."""
    now = children_cpu()
    spent = {pid: cpu - before.get(pid, 0.0) for pid, cpu in now.items()}
    spent[0] = max(0.0, spent[0] - sum(cpu for pid, cpu in before.items() if pid not in now))
    return spent


def _is_server(process: psutil.Process) -> bool:
    """Whether it is this process's server, whose last argument is our id. Processes that it forked have the same
    command line, and do not work for the call either."""
    words = process.cmdline()
    return SERVER in words and words[-1] == str(os.getpid())


def _descendants(pid: int) -> list[int]:
    """The ids of all descendants of a process; fast where the kernel lists children (Linux)."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(c) for task in tasks for c in (task / "children").read_text().split()]
    except OSError:
        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children(recursive=True)]
        return []
    return children + [below for child in children for below in _descendants(child)]


def _precisely(pid: int) -> float:
    """CPU seconds of the current threads of a process, to the nanosecond; 0 where the kernel does not report them.

    ``cpu_times`` counts threads that have ended too, but in steps of 0.01 s."""
    tasks = Path(f"/proc/{pid}/task")
    return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks.glob("*")) / 1e9


def _busy() -> float:
    """CPU seconds that all cores together have worked since the machine started."""
    times = psutil.cpu_times()._asdict()
    return float(sum(times.get(kind, 0.0) for kind in ("user", "system", "nice", "irq", "softirq", "steal")))


class Census:
    """Samples the threads of this process every few milliseconds, except its own."""

    def __init__(self, interval: float = 0.01) -> None:
        self.interval = interval
        self.most = 0  # threads at once
        self.cpu = 0.0  # of the sampling itself
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)

    def spent(self) -> dict[int, float]:
        """CPU seconds of each thread by its id, between its first and last sample; the kernel counts in steps of 0.01
        s."""
        return {id: cpu - self._first[id] for id, cpu in self._last.items()}

    def __enter__(self) -> Census:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _count(self) -> None:
        own, me = psutil.Process(), threading.get_native_id()
        while True:
            seen = {t.id: t.user_time + t.system_time for t in own.threads() if t.id != me}
            self.most = max(self.most, len(seen))
            self._first = seen | self._first
            self._last |= seen
            self.cpu = time.thread_time()
            if self._over.wait(self.interval):
                return
