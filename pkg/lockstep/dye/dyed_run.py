"""dye(): run a collective on dyed tensors, and find from its results which rank's data they contain.

In one run, the function is called several times:

    (1) with zeros on all ranks: what the result contains is a constant
    (2) for each rank of the group, with a dye on this rank and zeros on all others: the dye shows where its data goes
    (3) as a control, with other numbers on all ranks: the affine map found by (1) and (2) must give the same results

A linear function is determined completely by (1) and (2), and (3) reveals others: a maximum, a product, clipping. A
nonlinear function, or rounding, gives a ``Dyed`` that is not ``certain``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.distributed as dist

from lockstep.comm.backend_rules import Rules
from lockstep.dye.decoding import Left, read
from lockstep.dye.encoding import Digits, controls
from lockstep.dye.provenance import Dyed
from lockstep.dye.rounds import Watch, read_steps
from lockstep.errors import RunError, UsageError
from lockstep.machines import Cluster
from lockstep.worlds import run

CLUSTER = "dgx-a100"  # the default, the same on every machine


def dye(
    fn: Callable[..., Any],
    *,
    ranks: int,
    affine: bool = False,
    elements: int | None = None,
    dtype: torch.dtype = torch.float64,
    group: Sequence[int] | None = None,
    extra: Sequence[Any] = (),
    on: str | Cluster | None = None,
    weights: int = 1,
    rules: str | Rules = "rendezvous",
    timeout: float = 20.0,
    steps: bool = False,
) -> Dyed:
    """The provenance of each element in the results of ``fn(tensor, *extra, group=group)``.

    ranks: the world size.
    group: the global ranks that call ``fn``; None for all, in which case ``fn`` gets ``group=None``.
    affine: whether the result may contain constants.
    elements: the size of each rank's tensor. By default the number of digits of a vector (8 in float64, 6 in float32
        and int32, 2 in bfloat16), and at least one per rank of the group.
    extra: further arguments, the same on every rank, such as a root.
    weights: a possible denominator of the multiplicities, such as 4 for ``x/2 + left/4 + right/4``. The number of ranks
        is always tried, so that a mean needs none.
    rules: see ``run``. timeout: seconds of host time for all calls together.
    steps: also record what each rank holds before each round of messages (``rounds.py``), for the figure.

    A failed run gives a ``Dyed`` with ``doubt="failed"`` and the error's class name in ``failure``. Raises UsageError
    for an invalid call, and WorldUnavailable if this machine cannot run it.
    """
    members = tuple(range(ranks)) if group is None else tuple(sorted(group))  # as new_group sorts them
    check(members, ranks, elements, weights)
    digits = Digits.of(dtype, len(members), weights)
    numel = elements or max(digits.per_vector, len(members))
    dyed = Dyed(members, numel, str(dtype).removeprefix("torch."), affine)
    control = controls(dtype, len(members), numel, digits.unit)
    tensors = tuple(calls(digits, len(members), numel, control))
    plan = Plan(members, group is not None, tuple(extra), dtype, tensors, steps)
    try:
        outcome = run(play, fn, plan, ranks=ranks, on=on or CLUSTER, rules=rules, timeout=timeout)
    except RunError as error:
        return replace(dyed, doubt="failed", failure=type(error).__name__)
    left: list[list[Left]] = [outcome.values[m] for m in members]
    found = read(dyed, digits, control, left)
    return replace(found, steps=read_steps(found, digits, left, outcome.trace)) if steps and found.certain else found


def check(members: tuple[int, ...], ranks: int, elements: int | None, weights: int) -> None:
    """Raise UsageError for an invalid group, size or denominator."""
    if not members or len(set(members)) < len(members) or not set(members) <= set(range(ranks)):
        raise UsageError(f"{members} is no group of {ranks} ranks.", "Name each rank that takes part once.")
    if elements is not None and elements < 1:
        raise UsageError(f"A tensor of {elements} elements cannot be dyed.", "Take one element or more.")
    if weights < 1:
        raise UsageError(f"weights={weights} is no denominator.", "Give a whole number from 1 on.")


# ---- on each rank


@dataclass(frozen=True)
class Plan:
    """``calls[n][seat]`` is the tensor of the n-th call, as numbers, for each rank of the group."""

    members: tuple[int, ...]
    is_subgroup: bool
    extra: tuple[Any, ...]
    dtype: torch.dtype
    calls: tuple[list[list[float]], ...]
    steps: bool


def calls(digits: Digits, ranks: int, elements: int, control: list[list[float]]) -> Iterator[list[list[float]]]:
    """The tensors of each call, by rank of the group."""
    zeros = [0.0] * elements
    yield [zeros] * ranks  # (1)
    for dyed_rank in range(ranks):  # (2)
        for first in range(0, elements, digits.per_vector):
            vector = [0.0] * elements
            for digit in range(min(digits.per_vector, elements - first)):
                vector[first + digit] = float(digits.number(digit))
            yield [vector if rank == dyed_rank else zeros for rank in range(ranks)]
    yield control  # (3)


def play(fn: Callable[..., Any], plan: Plan) -> list[Left]:
    """All calls of ``fn`` on this rank; none if it is not in the group."""
    group = dist.new_group(list(plan.members)) if plan.is_subgroup else None
    seat = plan.members.index(dist.get_rank()) if dist.get_rank() in plan.members else None
    left = []
    for tensors in plan.calls:
        dist.barrier()  # so that messages of one call cannot be received in the next
        if seat is not None:
            tensor = torch.tensor(tensors[seat], dtype=torch.float64).to(plan.dtype)
            left.append(play_one(fn, plan, tensor, group))
    return left


def play_one(fn: Callable[..., Any], plan: Plan, tensor: torch.Tensor, group: Any) -> Left:
    """One call of ``fn``."""
    extra = copy.deepcopy(plan.extra)
    if not plan.steps:
        return Left.of(fn(tensor, *extra, group=group), tensor)
    with Watch(group, tensor) as watch:
        returned = fn(tensor, *extra, group=group)
    result = tensor if returned is None else returned
    return Left.of(returned, tensor, watch.posted, watch.chosen(result))
