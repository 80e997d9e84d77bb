"""The peak memory of a piece of a rank's program: as torch.cuda.max_memory_allocated, but by kind and in any world."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from lockstep.errors import UsageError
from lockstep.events import Memory
from lockstep.residency import non_tensor_memory
from lockstep.residency.live_storages import Residency
from lockstep.residency.non_tensor_memory import BESIDES, Besides
from lockstep.residency.opened_files import written


@contextmanager
def peak_of(*given: Any) -> Iterator[Callable[[], Memory]]:
    """``with peak_of(x) as memory:`` measures a piece of a program; ``memory()`` returns its Memory.

    Everything that is alive at the beginning counts, including the tensors in ``given``. Raises UsageError outside a
    rank."""
    book = _book()
    book.adopt(given)
    with book.stretch() as memory:
        yield memory


def booked(call: Callable[..., Any], *arguments: Any) -> tuple[Any, dict[str, int]]:
    """The value of ``call(*arguments)``, and its peak memory in bytes: "peak" is the increase since it began, and each
    of MEMORY_KINDS is all that was alive at the peak."""
    with peak_of(arguments) as memory:
        before = memory().peak
        value, most = call(*arguments), memory()
    return value, {"peak": most.peak - before, **most.at_peak}


def weighed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, dict[str, int]]:
    """As ``booked``, including memory outside tensors, by BESIDES. "deaf" is 1 if the call has replaced functions that
    do the accounting."""
    book, here = _book(), sys._getframe()
    with peak_of(arguments) as memory, written() as paths:
        before = memory().peak
        outer, book.besides = book.besides, Besides(here, arguments, book.knows, lambda: book.now, paths)
        try:
            value, most, found = call(*arguments), memory(), book.besides
        finally:
            book.besides = outer
    kept = found.at_most if found.most > most.peak else dict.fromkeys(BESIDES, 0)
    deaf = _counting() != COUNTING or any(callable(getattr(Residency, name, None)) for name in vars(book))
    return value, {"peak": max(most.peak, found.most) - before, **most.at_peak, **kept, "deaf": int(deaf)}


def _counting() -> list[Any]:
    """The identities of all functions that do the accounting."""
    owners: tuple[Any, ...] = (Residency, Besides, non_tensor_memory._Walk, non_tensor_memory)
    return [
        (id(v), getattr(v, "__code__", None)) for owner in owners for v in list(vars(owner).values()) if callable(v)
    ]


COUNTING = _counting()


def _book() -> Residency:
    """The memory account of this thread's rank, found by its dispatch mode. Raises UsageError outside a rank."""
    for mode in reversed(_get_current_dispatch_mode_stack()):
        if isinstance(book := getattr(mode, "residency", None), Residency):
            return book
    raise UsageError("No rank runs here, of which memory could be booked.", "Call it in a function that run() runs.")
