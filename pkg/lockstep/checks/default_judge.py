"""The judge of every exercise that says by data what is wanted: a rule for values, and budgets for what they cost.

examine(exercise)     what is wrong with the values of one run
economise(exercise)   what is wrong with its cost
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import exceeded
from lockstep.checks.calls import told_call
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Economise, Examine, Fault
from lockstep.checks.numbers import apart, number, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.transforms import PLACES
from lockstep.checks.unchanged_arguments import changed
from lockstep.checks.values import compare, result, told
from lockstep.checks.wording import counted

CLOSE = 1e-6  # relative: any order of operations is right


def examine(exercise: Exercise) -> Examine:
    """The exercise's own rule first, then its values."""

    def examined(seen: Seen) -> Fault | None:
        spoilt = changed(exercise, seen) if exercise.kept else None
        own = spoilt or (exercise.examine(seen) if exercise.examine else None)
        if own or exercise.wanted is None:
            return own
        return _calls(exercise, seen) if exercise.pure else _results(exercise, seen)

    return examined


def economise(exercise: Exercise) -> Economise:
    """The budgets, and what no budget can say."""
    budgets = exceeded(exercise.budgets, exercise.of)

    def wasted(seen: Seen) -> Sequence[Fault]:
        more = exercise.economise(seen) if exercise.economise else ()
        return [*budgets(seen), *more][:1]

    return wasted


def spent(exercise: Exercise, seen: Seen) -> str:
    """What a run that is right has cost, as in "96 bytes a rank, the least there is; 6 messages one after another"."""
    rows = [b.spent(seen) for b in exercise.budgets if b.at_most is not None and b.measured.count(seen)]
    return f"With {seen.case}: {'; '.join(rows)}." if rows else ""


def _results(exercise: Exercise, seen: Seen) -> Fault | None:
    """What each member of the group holds: a tensor, or a tuple of them."""
    wanted = list(exercise.wanted(seen.case)) if exercise.wanted else []
    if not any(isinstance(want, tuple) for want in wanted):
        held = [seen.returned[rank] for rank in seen.case.members] if exercise.kept else results(seen)
        return compare(seen, held, [forgiven(h, w, exercise.rounding) for h, w in zip(held, wanted, strict=True)])
    held = [seen.returned[rank] for rank in seen.case.members]  # several values are never in place
    length = max(len(want) for want in wanted if want is not None)
    for rank, value, want in zip(seen.case.members, held, wanted, strict=True):
        if want is not None and not (isinstance(value, list) and len(value) == length):
            asked = exercise.asked or f"{counted(length, 'value')} in a tuple"
            return Fault("wrong-type", f"With {seen.case}, rank {rank} returns {told(value)}; {asked} is wanted.")
    for n in range(length):
        pairs = [(None, None) if want is None else (v[n], want[n]) for v, want in zip(held, wanted, strict=True)]
        fault = compare(seen, [v for v, _ in pairs], [forgiven(v, want, exercise.rounding) for v, want in pairs])
        if fault:
            return replace(fault, message=f"{fault.message} {_place(n, length)}")
    return None


def _place(n: int, of: int) -> str:
    if n < len(PLACES):
        return f"This is the {PLACES[n].lower()} value returned."
    return f"This is value {n + 1} of {of} returned."


def forgiven(held: Any, want: Tensor | None, rounding: float) -> Tensor | None:
    """What is wanted; of an element that is off by rounding what is held."""
    if not rounding or want is None or not isinstance(held, Tensor):
        return want
    if (held.shape, held.dtype) != (want.shape, want.dtype):
        return want
    return torch.where(torch.isclose(held, want, rtol=rounding, atol=rounding), held, want)


def results(seen: Seen) -> list[Any]:
    """What each member holds: what it returned, or else its first argument afterwards."""
    return [result(seen, rank) for rank in seen.case.members]


def _calls(exercise: Exercise, seen: Seen) -> Fault | None:
    """The first call that gives something else than is wanted."""
    calls, answers = exercise.inputs(seen.case, 0), seen.returned[0]
    wanted = exercise.wanted(seen.case) if exercise.wanted else ()
    agrees = exercise.agrees or equal
    rows = list(zip(calls, answers, wanted, strict=True))
    for call, answer, want in rows:
        if not _same_kind(answer, want) and not (answer is None and exercise.none):
            none = " Does every way through your function end with return?" if answer is None else ""
            asked = exercise.asked or _kind(want)
            return Fault("wrong-type", f"{_call(exercise, call)} returns {told(answer)}; {asked} is wanted.{none}")
    off = [row for row in rows if not agrees(row[1], row[2])]
    if not off:
        return None
    call, answer, want = off[0]
    given, right = _apart(answer, want)
    given = f"None: {exercise.none}" if answer is None and exercise.none else given
    message = f"With {seen.case}: {_call(exercise, call)} gives {given}; it is {right}."
    if len(rows) > 1:
        message += f" {len(off)} of {len(rows)} answers {'is' if len(off) == 1 else 'are'} wrong."
    aside = f"On the way: {exercise.steps(*call)}" if exercise.steps else ""
    right_ones = 1 - len(off) / len(rows)
    earned = right_ones if exercise.shared else float(right_ones >= exercise.nearly)
    return Fault("wrong-values", message, aside, earned)


def _call(exercise: Exercise, call: tuple[Any, ...]) -> str:
    return told_call(exercise, call) or exercise.function


def equal(answer: Any, want: Any) -> bool:
    """Numbers up to rounding, in lists and tuples too; all else exactly. A set of wanted answers holds any of them."""
    if isinstance(want, (set, frozenset)):
        return any(equal(answer, one) for one in want)
    if isinstance(want, (list, tuple)):
        values = parts(answer)
        return values is not None and len(values) == len(want) and all(map(equal, values, want))
    value = number_of(answer)
    if isinstance(want, (int, float)) and not isinstance(want, bool) and value is not None:
        both_nan = math.isnan(value) and math.isnan(want)
        return both_nan or math.isclose(value, want, rel_tol=CLOSE, abs_tol=1e-300)
    if isinstance(want, Tensor):
        return isinstance(answer, Tensor) and answer.shape == want.shape and torch.equal(answer, want)
    return bool(answer == want)


def parts(answer: Any) -> list[Any] | None:
    """The values of a list, a tuple or a tensor of one dimension."""
    if isinstance(answer, Tensor):
        return list(answer.tolist()) if answer.dim() == 1 else None
    return list(answer) if isinstance(answer, (list, tuple)) else None


def row(value: Any) -> list[float]:
    """A number, or those of a list, a tuple or a tensor, beside text; empty if there is anything else."""
    numbers = [number_of(v) for v in parts(value) or [value] if not isinstance(v, (str, frozenset))]
    return [] if None in numbers else [n for n in numbers if n is not None]


def _same_kind(answer: Any, want: Any) -> bool:
    if isinstance(want, (set, frozenset)):
        return any(_same_kind(answer, one) for one in want)
    if isinstance(want, (bool, str)):
        return isinstance(answer, type(want))
    if isinstance(want, (int, float)):
        return number_of(answer) is not None
    if isinstance(want, (list, tuple)):
        values = parts(answer)
        return values is not None and len(values) == len(want) and all(map(_same_kind, values, want))
    return True


def _kind(want: Any) -> str:
    if isinstance(want, (set, frozenset)):
        return _kind(next(iter(want)))
    if isinstance(want, (list, tuple)):
        return f"a tuple of {counted(len(want), 'value')}"
    names: Sequence[tuple[type, str]] = ((bool, "True or False"), (str, "text"), (int, "a number"), (float, "a number"))
    return next((name for kind, name in names if isinstance(want, kind)), "something else")


def _apart(answer: Any, want: Any) -> tuple[str, str]:
    """Both as text, numbers with as many digits as it takes to tell them apart."""
    if isinstance(want, (set, frozenset)):
        return told(answer), " or ".join(sorted(f"{one!r}" for one in want))
    if isinstance(want, (list, tuple)):
        pairs = [_apart(a, w) for a, w in zip(parts(answer) or (), want, strict=True)]
        return tuple(f"({', '.join(texts)})" for texts in zip(*pairs, strict=True))  # type: ignore[return-value]
    value = number_of(answer)
    if value is None or want is None or isinstance(want, (str, bool)):
        return told(answer), f"{want!r}"
    return (number(want), number(want)) if equal(answer, want) else apart(value, float(want))
