"""The topology of this machine as Linux reports it: hyperthreads and NUMA nodes; and threads pinned to processors.

    hyperthreads   two threads of one core: a set of registers each, one set of arithmetic units for both
    NUMA nodes     sockets with memory of their own: the other's memory is accessed through a link between them

Each function takes the folder that it reads, so that a test can pass that of another machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PROCESSORS = Path("/sys/devices/system/cpu")
NODES = Path("/sys/devices/system/node")


def siblings(folder: Path = PROCESSORS) -> list[tuple[int, ...]]:
    """The hardware threads of each core, as in [(0, 4), (1, 5)]; one each where there is no hyperthreading."""
    texts = {_text(path) for path in folder.glob("cpu[0-9]*/topology/thread_siblings_list")}
    return sorted(numbers(text) for text in texts if text)


def nodes(folder: Path = NODES) -> list[tuple[int, ...]]:
    """The processors of each NUMA node; one node on a machine with one socket."""
    found = [numbers(_text(path)) for path in sorted(folder.glob("node[0-9]*/cpulist"))]
    return [node for node in found if node]


def numbers(text: str) -> tuple[int, ...]:
    """``"0-2,8"`` → (0, 1, 2, 8)."""
    parts = [part.partition("-") for part in text.split(",") if part.strip()]
    return tuple(n for first, _, last in parts for n in range(int(first), int(last or first) + 1))


@contextmanager
def on_processor(number: int) -> Iterator[None]:
    """Pin this thread to a processor (Linux)."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def pinned(number: int, work: Callable[[], object]) -> Callable[[], object]:
    """``work``, pinned to processor ``number``."""

    def there() -> object:
        with on_processor(number):
            return work()

    return there


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
