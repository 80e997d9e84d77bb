"""A first run in Python, on small traced arrays: an index outside of an array is an error there, and in compiled code a
crash, or worse, nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lockstep.checks.cpu.lines import Busy, lines_counted
from lockstep.checks.judge import Fault
from lockstep.errors import UsageError
from lockstep.places import innermost

ENOUGH = 64  # accesses for each element, before a run counts as endless: right ones make three
NOTHING = {"problem": "", "told": ""}


def trial(fn: Callable[..., Any], memory: Any, *arguments: Any) -> dict[str, str]:
    """What is wrong with a run in Python that compiled code would not tell: the ``problem``, empty if none, and
    ``told``, in words. What numba finds itself is left to it."""
    from lockstep.cpu.traced import Endless
    from lockstep.cpu.tracing import trace

    try:
        with lines_counted(memory):
            trace(fn, memory, *arguments)
    except IndexError as error:
        return {"problem": "out-of-bounds", "told": str(error)}
    except UsageError as error:
        return {"problem": "library-call", "told": error.message}
    except (Endless, Busy) as error:
        where = innermost(error)
        stood = f" It stood at {where}: {where.source}" if where.file else ""
        return {"problem": "endless", "told": f"{error} to its arrays.{stood}"}
    return NOTHING


def trial_of_kernel(fn: Callable[..., Any], *arguments: Any) -> dict[str, str]:
    """The same for a kernel whose machine code is read afterwards: only indices and endless loops are looked at here,
    since the compiler tells of everything else."""
    from lockstep.cpu.traced import Memory

    memory = Memory(most=ENOUGH * (100 + sum(a.size for a in arguments if isinstance(a, np.ndarray))))
    placed = [memory.place(a) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        found = trial(fn, memory, *placed)
    except Exception:  # the compiler says what
        return NOTHING
    return NOTHING if found["problem"] == "library-call" else found


def unfit(begin: str, evidence: dict[str, Any], advice: str = "") -> Fault | None:
    """What the trial found, told to the learner."""
    problem, told = evidence["problem"], evidence["told"]
    if problem == "endless":
        return Fault(
            "endless",
            f"{begin}run in Python, it had not ended after {told}\nDoes every loop end? Look at what should change in "
            "each turn.",
        )
    if problem == "library-call":
        return Fault("library-call", f"{begin}{told} Write the loops yourself: that is the exercise.")
    if problem == "out-of-bounds":
        return Fault(
            "out-of-bounds",
            f"{begin}{told}. Compiled code does not look: it reads or overwrites whatever lies there.{advice}",
        )
    return None
