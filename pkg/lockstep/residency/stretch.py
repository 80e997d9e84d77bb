"""What a rank holds while a piece of its program runs: torch.cuda.max_memory_allocated, by kind and in any world."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from lockstep.errors import UsageError
from lockstep.events import Memory
from lockstep.residency import besides
from lockstep.residency.besides import BESIDES, Besides
from lockstep.residency.book import Residency
from lockstep.residency.opened_files import written


@contextmanager
def peak_of(*given: Any) -> Iterator[Callable[[], Memory]]:
    """``with peak_of(x) as memory:`` runs a piece of a program, and ``memory()`` says what was alive in it.

    Everything that is alive at its beginning counts, with the tensors of ``given``. Raises UsageError where no rank is
    running."""
    book = _book()
    book.adopt(given)
    with book.stretch() as memory:
        yield memory


def booked(call: Callable[..., Any], *arguments: Any) -> tuple[Any, dict[str, int]]:
    """What ``call(*arguments)`` gives; and the most bytes that were alive in it: "peak" counts what there was not when
    it began, and each kind of MEMORY_KINDS all that was alive then."""
    with peak_of(arguments) as memory:
        before = memory().peak
        value, most = call(*arguments), memory()
    return value, {"peak": most.peak - before, **most.at_peak}


def weighed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, dict[str, int]]:
    """``booked``, with what the rank keeps in other things than tensors, by BESIDES: "peak" counts these, too.
    "deaf": 1 where what counts was replaced meanwhile."""
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
    """All that counts, as it is now."""
    owners: tuple[Any, ...] = (Residency, Besides, besides._Walk, besides)
    return [
        (id(v), getattr(v, "__code__", None)) for owner in owners for v in list(vars(owner).values()) if callable(v)
    ]


COUNTING = _counting()


def _book() -> Residency:
    """Of the rank that this thread is: the mode by which its operations go keeps it."""
    for mode in reversed(_get_current_dispatch_mode_stack()):
        if isinstance(book := getattr(mode, "residency", None), Residency):
            return book
    raise UsageError("No rank runs here, of which memory could be booked.", "Call it in a function that run() runs.")
