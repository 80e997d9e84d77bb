"""Which data the cases of an exercise have: of an answer that skips a collective where its own data are zeros, or that
knows no tensor of shape (), nobody sees anything where no case has such data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from extremes import cases_of, parameters
from mutations import tensors
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise


def lacking(exercise: Exercise) -> list[str]:
    """Names of the arguments with numbers of a rank's own that are in no case all zeros on one rank, and only there."""
    own, zeros = set[str](), set[str]()
    for case in (case for case in cases_of(exercise) if case.size > 1):
        for name, of_ranks in columns(exercise, case):
            if any(not same(a, of_ranks[0]) for a in of_ranks):
                own.add(name)
            silent = [all(not t.any() for t in of_rank) for of_rank in of_ranks]
            if any(silent) and not all(silent):
                zeros.add(name)
    return sorted(own - zeros)


def shapes(exercise: Exercise) -> set[str]:
    """Which of "()" and "empty" some tensor of some case is."""
    found = set[str]()
    for case in cases_of(exercise):
        calls = exercise.inputs(case, 0) if exercise.pure else [exercise.inputs(case, rank) for rank in case.members]
        for tensor in tensors(list(calls)):
            found |= {"()"} if tensor.dim() == 0 else set()
            found |= {"empty"} if not tensor.numel() else set()
    return found


def columns(exercise: Exercise, case: Case) -> Iterator[tuple[str, list[Sequence[Tensor]]]]:
    """Of each argument what the members of the group have, as far as it is tensors with elements."""
    given: list[Sequence[Any]] = [exercise.inputs(case, rank) for rank in case.members]
    for name, values in zip(parameters(exercise), zip(*given, strict=True), strict=False):
        held = [[t for t in tensors(value) if t.numel()] for value in values]
        if any(held):
            yield name, [of_rank for of_rank in held if of_rank]


def same(a: Sequence[Tensor], b: Sequence[Tensor]) -> bool:
    return len(a) == len(b) and all(x.shape == y.shape and torch.equal(x, y) for x, y in zip(a, b, strict=True))
