"""Of every exercise, the right answer that leaves a trace in its arguments: each is told, or the exercise allows it."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import cloudpickle
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lockstep import checks
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.observe import observe
from lockstep.checks.run_faults import examine
from lockstep.checks.unchanged_arguments import not_allowed

cloudpickle.register_pickle_by_value(sys.modules[__name__])

SPOILT = "this answer has spoilt an argument"
Spoil = Callable[[Sequence[Any]], bool]  # whether it found something to spoil


def inside(values: Any, depth: int = 5) -> Iterator[Any]:
    """All lists, dicts, tensors, arrays and models in arguments."""
    for value in values:
        yield value
        if depth and isinstance(value, (list, tuple, deque)):
            yield from inside(value, depth - 1)
        elif depth and isinstance(value, dict):
            yield from inside(value.values(), depth - 1)
        elif isinstance(value, nn.Module):  # what is on the meta device has no numbers to be spoilt
            yield from (p for p in value.parameters() if not p.is_meta)


def a_number_more(arguments: Sequence[Any]) -> bool:
    for value in inside(arguments):
        if isinstance(value, Tensor) and value.numel():
            last = (-1,) * value.dim()
            value.data[last] = ~value.data[last] if value.dtype == torch.bool else value.data[last] + 1
            return True
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "fiu":
            value.flat[-1] += 1
            return True
    return False


def one_item_less(arguments: Sequence[Any]) -> bool:
    for value in inside(arguments):
        if isinstance(value, list) and value:
            value.pop()
            return True
        if isinstance(value, dict) and value:
            value.popitem()
            return True
    return False


def another_order(arguments: Sequence[Any]) -> bool:
    for value in inside(arguments):
        if isinstance(value, list) and len(value) > 1 and repr(value) != repr(value[::-1]):
            value.reverse()
            return True
    return False


def a_gradient_wanted(arguments: Sequence[Any]) -> bool:
    for value in inside(arguments):
        if isinstance(value, Tensor) and value.is_leaf and value.is_floating_point() and not value.requires_grad:
            value.requires_grad_()
            return True
    return False


def a_gradient_left(arguments: Sequence[Any]) -> bool:
    for value in inside(arguments):
        if isinstance(value, Tensor) and value.is_leaf and value.requires_grad:
            value.grad = torch.full_like(value, 7.0)
            return True
    return False


def a_hook_left(arguments: Sequence[Any]) -> bool:
    for value in inside(arguments):
        if isinstance(value, nn.Module):
            value.register_forward_hook(lambda *own: None)
            return True
        if isinstance(value, Tensor) and value.requires_grad:
            value.register_hook(lambda gradient: None)
            return True
    return False


SPOILS: tuple[tuple[Spoil, set[str]], ...] = (
    (a_number_more, {"values"}),
    (one_item_less, {"length"}),
    (another_order, {"order", "values", "shape"}),
    (a_gradient_wanted, {"requires_grad"}),
    (a_gradient_left, {"gradient"}),
    (a_hook_left, {"hooks"}),
)


def leaving(reference: Callable[..., Any], spoil: Spoil) -> Callable[..., Any]:
    def right_but_for_its_arguments(*given: Any, **named: Any) -> Any:
        result = reference(*given, **named)
        if spoil(given):
            print(SPOILT)
        return result

    return right_but_for_its_arguments


def returning_its_own(reference: Callable[..., Any]) -> Callable[..., Any]:
    """Where the answer is an argument's value, that argument itself."""

    def right_but_shared(*given: Any, **named: Any) -> Any:
        result = reference(*given, **named)
        for value in inside(given):
            if isinstance(value, Tensor) and same(value, result) and value is not result and value.numel():
                print(SPOILT)
                return value
        return result

    return right_but_shared


def same(value: Tensor, result: Any) -> bool:
    there = isinstance(result, Tensor) and value.shape == result.shape and value.dtype == result.dtype
    return there and not result.requires_grad and torch.equal(value, result)


EXERCISES = [e for e in checks.exercises() if e.run.compare_arguments]


def cases_of(exercise: Exercise) -> list[Case]:
    """One on some ranks, and one on a single one, where there are these."""
    size = max((n for n in exercise.worlds if n <= 3), default=exercise.worlds[0])
    some = [case for n in {1, size} & {*exercise.worlds} for case in exercise.cases(n, 3) if not case.group]
    return [*{case.ranks: case for case in some}.values()]


def told(exercise: Exercise, fn: Callable[..., Any], case: Case) -> set[str] | None:
    """What is told of it; None if there was nothing to spoil."""
    patient = replace(exercise, run=replace(exercise.run, timeout=40.0))
    (seen,) = observe(patient, fn, cases=[case], guarded=False).seen
    if seen.failure:
        assert seen.failure.exception == "RuntimeError", seen.failure
        return {"requires_grad"}  # torch itself refuses the next step
    if SPOILT not in seen.printed:
        return None
    fault = examine(exercise)(seen)
    assert fault is not None
    assert fault.misconception == "changes-arguments", fault.message
    return {change.what for _, change in not_allowed(exercise, seen)}


@pytest.mark.slow
@pytest.mark.runs("exercise")
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_whatever_is_left_in_the_arguments_is_told(exercise: Exercise) -> None:
    reference = exercise.reference_function()
    case = cases_of(exercise)[-1]
    allowed = {kind.partition(".")[2] for kind in exercise.values.may_change}
    for spoil, kinds in SPOILS:
        found = None if kinds & allowed else told(exercise, leaving(reference, spoil), case)
        assert found is None or found & kinds, spoil.__name__


@pytest.mark.slow
@pytest.mark.runs("exercise")
@pytest.mark.parametrize("exercise", [e for e in EXERCISES if not e.pure], ids=lambda e: e.id)
def test_a_result_that_is_an_argument_is_told(exercise: Exercise) -> None:
    if any(kind.endswith(".shared") for kind in exercise.values.may_change):
        return
    for case in cases_of(exercise):
        assert told(exercise, returning_its_own(exercise.reference_function()), case) in (None, {"shared"})
