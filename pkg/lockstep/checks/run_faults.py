"""The faults of one run, by what the exercise says of right values and of costs. ``judge.py`` makes findings and points
of the faults of all runs.

examine(exercise)     the fault in the values of a run, if any
economise(exercise)   the faults in its costs
spent(exercise, seen) what a run without faults has cost, as a sentence
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
from lockstep.checks.exercise import Exercise, Feedback
from lockstep.checks.judge import Economise, Examine, Fault
from lockstep.checks.numbers import apart, number, number_of
from lockstep.checks.observation import Seen
from lockstep.checks.transforms import PLACES
from lockstep.checks.unchanged_arguments import changed, spoilt
from lockstep.checks.values import compare, result, told
from lockstep.checks.wording import counted

CLOSE = 1e-9  # relative: any order of operations is right, in float64


def examine(exercise: Exercise) -> Examine:
    """Spoilt arguments first, then the exercise's own rule and its values; and of right values what else is left in the
    arguments: a hook, a gradient, a flag."""

    def examined(seen: Seen) -> Fault | None:
        own = spoilt(exercise, seen) or (exercise.values.examine(seen) if exercise.values.examine else None)
        if own or exercise.values.wanted is None:
            return own or changed(exercise, seen)
        return (_calls if exercise.pure else _results)(exercise, seen) or changed(exercise, seen)

    return examined


def economise(exercise: Exercise) -> Economise:
    """The budgets, and what no budget can say."""
    budgets = exceeded(exercise.costs.budgets, exercise.costs.algorithm)

    def wasted(seen: Seen) -> Sequence[Fault]:
        more = exercise.costs.economise(seen) if exercise.costs.economise else ()
        return [*budgets(seen), *more][:1]

    return wasted


def spent(exercise: Exercise, seen: Seen) -> str:
    """What a run that is right has cost, as in "96 bytes a rank, the least there is; 6 messages one after another"."""
    rows = [b.spent(seen) for b in exercise.costs.budgets if b.at_most is not None and b.measured.count(seen)]
    return f"With {seen.case}: {'; '.join(rows)}." if rows else ""


def _results(exercise: Exercise, seen: Seen) -> Fault | None:
    """What each member of the group holds: a tensor, or a tuple of them."""
    wanted = list(exercise.values.wanted(seen.case)) if exercise.values.wanted else []
    if not any(isinstance(want, tuple) for want in wanted):
        held = results(seen) if exercise.in_place else [seen.returned[rank] for rank in seen.case.members]
        return compare(
            seen, held, [forgiven(h, w, exercise.values.tolerance) for h, w in zip(held, wanted, strict=True)]
        )
    held = [seen.returned[rank] for rank in seen.case.members]  # several values are never in place
    length = max(len(want) for want in wanted if want is not None)
    for rank, value, want in zip(seen.case.members, held, wanted, strict=True):
        if want is not None and not (isinstance(value, list) and len(value) == length):
            asked = exercise.feedback.answer or f"{counted(length, 'value')} in a tuple"
            return Fault("wrong-type", f"With {seen.case}, rank {rank} returns {told(value)}; {asked} is wanted.")
    faults = []
    for n in range(length):
        pairs = [(None, None) if want is None else (v[n], want[n]) for v, want in zip(held, wanted, strict=True)]
        wants = [forgiven(v, want, exercise.values.tolerance) for v, want in pairs]
        if fault := compare(seen, [v for v, _ in pairs], wants):
            faults.append((fault, n))
    if not faults:
        return None
    fault, n = faults[0]
    return replace(fault, message=f"{fault.message} {_place(n, length, alone=len(faults) == 1)}")


def _place(n: int, of: int, alone: bool) -> str:
    named = f"the {PLACES[n].lower()} value" if n < len(PLACES) else f"value {n + 1} of {of}"
    others = "; the other one is right" if of == 2 else f"; the other {of - 1} are right"
    return f"This is {named} returned{others * (alone and of > 1)}."


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
    wanted = exercise.values.wanted(seen.case) if exercise.values.wanted else ()
    agrees = exercise.values.agrees or equal
    rows = list(zip(calls, answers, wanted, strict=True))
    for call, answer, want in rows:
        if not _same_kind(answer, want) and not (answer is None and exercise.feedback.none_means):
            none = " Does every way through your function end with return?" if answer is None else ""
            asked = exercise.feedback.answer or _kind(want)
            return Fault("wrong-type", f"{_call(exercise, call)} returns {told(answer)}; {asked} is wanted.{none}")
    off = [row for row in rows if not agrees(row[1], row[2])]
    if not off:
        return None
    call, answer, want = off[0]
    message = f"With {seen.case}: {_call(exercise, call)} gives {_differs(exercise.feedback, answer, want)}."
    if len(rows) > 1:
        message += f" {len(off)} of {len(rows)} answers {'is' if len(off) == 1 else 'are'} wrong."
    remark = exercise.feedback.remark(answer, *call) if exercise.feedback.remark else ""
    steps = f"On the way: {exercise.feedback.steps(*call)}" if exercise.feedback.steps else ""
    right_ones = 1 - len(off) / len(rows)
    earned = right_ones if exercise.values.partial_credit else float(right_ones >= exercise.values.full_credit_from)
    return Fault("wrong-values", message, f"{remark} {steps}".strip(), earned)


def _differs(feedback: Feedback, answer: Any, want: Any) -> str:
    if feedback.apart and answer is not None:
        return feedback.apart(answer, want)
    given, right = _apart(answer, want)
    given = f"None: {feedback.none_means}" if answer is None and feedback.none_means else given
    return f"{given}; it is {right}"


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
    """A number, or the numbers of a list, a tuple or a tensor, without its text; empty if there is anything else."""
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
        rows = zip(parts(answer) or (), want, strict=True)
        pairs = [(number(w), number(w)) if number_of(w) is not None and equal(a, w) else _apart(a, w) for a, w in rows]
        return tuple(f"({', '.join(texts)})" for texts in zip(*pairs, strict=True))  # type: ignore[return-value]
    value = number_of(answer)
    if value is None or want is None or isinstance(want, (str, bool)):
        return told(answer), f"{want!r}"
    return apart(value, float(want))
