"""dye(): run a collective on dyed tensors, and read from its results what it is made of.

In one run, one call after the other:

    (1) all tensors are zero: what is there now came from nobody
    (2) for each rank of the group, only its tensor is dyed: where the dye is now, this rank's numbers are
    (3) a control: every rank has numbers of its own, and the map found by (1) and (2) must give what the function gave

A linear function is known entirely by (1) and (2), and (3) finds out others: a maximum, a product, a clip. What is
not linear, or was rounded, gives a ``Dyed`` that is not ``certain``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import torch
import torch.distributed as dist

from lockstep.comm.rules import Rules
from lockstep.dye.digits import Digits, controls, exact
from lockstep.dye.dyed import Cell, Dyed, Part, Row
from lockstep.errors import RunError, UsageError
from lockstep.machines import Cluster
from lockstep.worlds import run

CLUSTER = "dgx-a100"  # the same for everyone, whatever machine they sit at
LINEAR = ("sum", "mean", "permutation", "affine")

Values = list[Fraction]


def dye(
    fn: Callable[..., Any],
    *,
    ranks: int,
    linear: str = "sum",
    elements: int | None = None,
    dtype: torch.dtype = torch.float64,
    group: Sequence[int] | None = None,
    extra: Sequence[Any] = (),
    on: str | Cluster | None = None,
    weights: int = 1,
    rules: str | Rules = "rendezvous",
    timeout: float = 20.0,
) -> Dyed:
    """Who is in the result of ``fn(tensor, *extra, group=group)``, for each rank and element.

    ranks: of the world. ``group``: the global ranks that take part; the others do not call ``fn``. None is all of
        them, and ``fn`` is then given ``group=None``.
    linear: "sum", "mean", "permutation", or "affine": then what came from nobody is no flaw.
    elements: of each rank's tensor. By default as many as a vector has digits (8 in float64, 6 in float32 and int32, 2
        in bfloat16), and at least one for each rank of the group.
    extra: further arguments, the same on every rank, as a root.
    weights: a denominator that counts may have, as 4 for ``x/2 + left/4 + right/4``. The number of ranks is tried
        always: a mean needs none.
    rules: see ``run``. timeout: seconds of host time for all calls together.

    A run that fails gives a ``Dyed`` with ``doubt="failed"`` and the error's name in ``failure``. Raises UsageError
    for a call that makes no sense, and WorldUnavailable when this machine cannot do it.
    """
    members = tuple(range(ranks)) if group is None else tuple(group)
    check(linear, members, ranks, elements, weights)
    digits = Digits.of(dtype, len(members), weights)
    numel = elements or max(digits.per_vector, len(members))
    dyed = Dyed(members, numel, str(dtype).removeprefix("torch."), linear)
    control = controls(dtype, len(members), numel, digits.unit)
    plan = Plan(members, group is not None, tuple(extra), dtype, tuple(calls(digits, len(members), numel, control)))
    try:
        outcome = run(play, fn, plan, ranks=ranks, on=on or CLUSTER, rules=rules, timeout=timeout)
    except RunError as error:
        return replace(dyed, doubt="failed", failure=type(error).__name__)
    return read(dyed, digits, control, [outcome.values[m] for m in members])


def check(linear: str, members: tuple[int, ...], ranks: int, elements: int | None, weights: int) -> None:
    """UsageError for what cannot be dyed."""
    if linear not in LINEAR:
        raise UsageError(f"There is no linear={linear!r}.", f"Write one of {', '.join(LINEAR)}.")
    if not members or len(set(members)) < len(members) or not set(members) <= set(range(ranks)):
        raise UsageError(f"{members} is no group of {ranks} ranks.", "Name each rank that takes part once.")
    if elements is not None and elements < 1:
        raise UsageError(f"A tensor of {elements} elements cannot be dyed.", "Take one element or more.")
    if weights < 1:
        raise UsageError(f"weights={weights} is no denominator.", "Give a whole number from 1 on.")


# ---- what each rank is given, and what it hands back


@dataclass(frozen=True)
class Plan:
    """``calls[n][seat]`` is the tensor of the n-th call, as numbers, for each rank of the group."""

    members: tuple[int, ...]
    is_subgroup: bool
    extra: tuple[Any, ...]
    dtype: torch.dtype
    calls: tuple[list[list[float]], ...]


Left = tuple[list[float] | None, list[float], bool]  # what was returned, the argument afterwards, whether this is all


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
    """All calls of ``fn`` on this rank; nothing where it is not in the group."""
    group = dist.new_group(list(plan.members)) if plan.is_subgroup else None
    seat = plan.members.index(dist.get_rank()) if dist.get_rank() in plan.members else None
    left = []
    for tensors in plan.calls:
        dist.barrier()  # so that no message of one call is taken for one of the next
        if seat is not None:
            tensor = torch.tensor(tensors[seat], dtype=torch.float64).to(plan.dtype)
            returned = fn(tensor, *copy.deepcopy(plan.extra), group=group)
            left.append((numbers(returned), numbers(tensor) or [], is_plain(returned)))
    return left


def is_plain(returned: Any) -> bool:
    """Whether this can be a result: None, a tensor, a list of tensors."""
    return returned is None or numbers(returned) is not None


def numbers(value: Any) -> list[float] | None:
    """The elements of a tensor, or of tensors one after the other; None for anything else."""
    if isinstance(value, torch.Tensor) and not value.is_complex():
        flat: list[float] = value.detach().flatten().tolist()
        return flat
    if isinstance(value, (list, tuple)) and value:
        parts = [numbers(v) for v in value]
        return [n for part in parts if part is not None for n in part] if None not in parts else None
    return None


# ---- reading it


def read(dyed: Dyed, digits: Digits, control: list[list[float]], left: Sequence[Sequence[Left]]) -> Dyed:
    """``left[rank][call]``: what the ranks handed back."""
    if not all(plain for of_rank in left for *_, plain in of_rank):
        return replace(dyed, doubt="value")
    returned = tuple(of_rank[0][0] is not None for of_rank in left)
    if any((result is not None) != returned[rank] for rank, of_rank in enumerate(left) for result, *_ in of_rank):
        return replace(dyed, doubt="shape")
    results = [[argument if result is None else result for result, argument, _ in of_rank] for of_rank in left]
    found = read_map(replace(dyed, returned=returned), digits, control, results)
    arguments = [[argument for _, argument, _ in of_rank] for of_rank in left]
    in_place = found if not any(returned) else read_map(dyed, digits, control, arguments)
    return replace(found, in_place=in_place.rows if in_place.certain and found.certain else None)


def read_map(dyed: Dyed, digits: Digits, control: list[list[float]], held: Sequence[Sequence[list[float]]]) -> Dyed:
    """The map by which ``held[rank][call]`` came about: with whole counts if that explains it, or else with
    fractions."""
    if any(len(of_call) != len(of_rank[0]) for of_rank in held for of_call in of_rank):
        return replace(dyed, doubt="shape")
    values = [[exact(of_call) for of_call in of_rank] for of_rank in held]
    known = [[v for v in of_rank if v is not None] for of_rank in values]
    if any(len(k) < len(of_rank) for k, of_rank in zip(known, held, strict=True)):
        return replace(dyed, doubt="digit")
    alone = tuple(tuple(of_rank[0]) for of_rank in held)
    tried = [replace(dyed, weights=over, alone=alone) for over in dict.fromkeys((1, digits.unit))]
    tried = [read_rows(one, digits, control, known) for one in tried]
    return next((one for one in tried if one.certain), tried[-1])


def read_rows(dyed: Dyed, digits: Digits, control: list[list[float]], values: Sequence[Sequence[Values]]) -> Dyed:
    """The same with counts in ``dyed.weights``-ths, if the dye can be read so and the control agrees."""
    rows = []
    for zeros, *colours, controlled in values:
        row = [read_cell(dyed, digits, [v[e] - zeros[e] for v in colours]) for e in range(len(zeros))]
        cells = [cell for cell in row if cell is not None]
        if len(cells) < len(row):
            return replace(dyed, doubt="digit")
        rows.append(tuple(cells))
        if not agrees(dyed.weights, cells, zeros, control, controlled):
            return replace(dyed, doubt="control")
    return replace(dyed, rows=tuple(rows))


def read_cell(dyed: Dyed, digits: Digits, values: Sequence[Fraction]) -> Cell | None:
    """One element, from its values in the calls (2)."""
    vectors = -(-dyed.elements // digits.per_vector)
    parts: list[Part] = []
    for number, value in enumerate(values):
        if value:
            rank, vector = divmod(number, vectors)
            first = vector * digits.per_vector
            counts = digits.read(value, dyed.weights)
            if counts is None or any(first + digit >= dyed.elements for digit in counts):
                return None
            parts += [Part(rank, first + digit, count) for digit, count in counts.items()]
    return tuple(parts)


def agrees(weights: int, row: Row | list[Cell], zeros: Values, control: list[list[float]], there: Values) -> bool:
    """Whether the map gives what the function gave. Two maps differ by a quarter of a part or more; an eighth of that
    is left to rounding."""
    for cell, zero, value in zip(row, zeros, there, strict=True):
        parts = (Fraction(control[p.rank][p.element]) * p.times for p in cell)
        expected = zero + sum(parts, Fraction(0)) / weights
        if abs(value - expected) * 32 * weights > 1:
            return False
    return True
