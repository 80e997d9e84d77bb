"""How a thread uses files: opens by an audit hook of Python, reads and bytes by the kernel, seeks by ``read_at``.

    with counted() as use:
        train()
    use.opens, use.reads, use.nbytes, use.seeks

The kernel's counters are those of ``/proc/thread-self/io`` (proc_pid_io(5)): ``syscr``, read system calls, and
``rchar``, bytes that these returned, from the disk or from the page cache. Where there is no ``/proc`` (macOS) they are
None. What a file that is mapped into memory costs, no such counter sees: it has no read calls.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

KERNEL = "/proc/thread-self/io"


@dataclass
class FileUse:
    """What a thread did to files. All are counts; ``nbytes`` is bytes that read calls returned."""

    opens: int = 0
    reads: int | None = None
    writes: int | None = None
    nbytes: int | None = None
    seeks: int = 0
    _ends: dict[int, int] = field(default_factory=dict, repr=False)  # by file: where the last read_at ended


_watched: dict[int, list[FileUse]] = {}  # by thread
_listening = False


@contextmanager
def counted() -> Iterator[FileUse]:
    """A context that counts what this thread does to files. The counts are complete when it ends; contexts may nest."""
    global _listening
    if not _listening:
        _listening = True
        sys.addaudithook(_hear)
    use, mine = FileUse(), _watched.setdefault(get_ident(), [])
    first, before = _kernel(), _kernel()
    mine.append(use)
    try:
        yield use
    finally:
        mine[:] = [other for other in mine if other is not use]
        after = _kernel()
        if first and before and after:  # the difference of the first two is what asking costs
            found = {key: after[key] - 2 * before[key] + first[key] for key in after}
            use.reads, use.writes, use.nbytes = found["syscr"], found["syscw"], max(0, found["rchar"])


def read_at(file: int, offset: int, nbytes: int) -> bytes:
    """``nbytes`` bytes of the open file from ``offset`` on: a seek unless the last one of this file ended there."""
    for use in _watched.get(get_ident(), ()):
        use.seeks += use._ends.get(file, 0) != offset
        use._ends[file] = offset + nbytes
    return os.pread(file, nbytes, offset)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        for use in _watched.get(get_ident(), ()):
            use.opens += 1


def _kernel() -> dict[str, int] | None:
    try:
        with open(KERNEL, "rb", buffering=0) as file:
            lines = file.read().decode().splitlines()
    except OSError:
        return None
    return {key: int(value) for key, value in (line.split(": ") for line in lines)}
