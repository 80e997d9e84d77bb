"""A first run in Python, on small traced arrays: an index outside of an array is an error there, and in compiled code a
crash, or worse, nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lockstep.cpu.tracing import Endless, Memory, TracedArray, trace
from lockstep.errors import UsageError
from lockstep.exercises.cpu.lines import Busy, lines_counted
from lockstep.places import innermost

ENOUGH = 64  # accesses for each element, before a run counts as endless: right kernels make three


@dataclass(frozen=True)
class Trial:
    """What happened. ``problem`` is empty, "out-of-bounds", "library-call" or "endless"; ``told`` says it in words and
    ``where`` at which line. ``arguments`` are as the run left them."""

    memory: Memory
    returned: Any = None
    arguments: tuple[Any, ...] = ()
    problem: str = ""
    told: str = ""
    where: str = ""


def try_in_python(
    function: Callable[..., Any], names: Sequence[str], *arguments: Any, memory: Memory | None = None
) -> Trial:
    """Run ``function`` as plain Python, its arrays traced under ``names``. Errors that are not listed in ``Trial``
    are the program's own, and are raised."""
    size = sum(a.size for a in arguments if isinstance(a, np.ndarray))
    memory = memory or Memory(most=ENOUGH * (100 + size))
    pairs = list(zip(names, arguments, strict=True))
    placed = tuple(memory.place(a, name) if isinstance(a, np.ndarray) else a for name, a in pairs)
    try:
        with lines_counted(memory):
            returned = trace(function, memory, *placed)
    except IndexError as error:
        return Trial(memory, problem="out-of-bounds", told=str(error), where=_place(error))
    except UsageError as error:
        return Trial(memory, problem="library-call", told=error.message, where=_place(error))
    except (Endless, Busy) as error:
        return Trial(memory, problem="endless", told=f"{error} to its arrays", where=_place(error))
    return Trial(memory, _values(returned), tuple(map(_values, placed)))


def _values(value: Any) -> Any:
    return value.values if isinstance(value, TracedArray) else value


def _place(error: BaseException) -> str:
    """As in "dot.py, line 8: s += x[i] * y[i]"; empty if no line of the program's own is known."""
    where = innermost(error)
    return f"{where}: {where.source}" if where.file else ""
