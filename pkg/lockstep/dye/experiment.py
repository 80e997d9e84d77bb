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
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from lockstep.comm.rules import Rules
from lockstep.dye.digits import Digits, controls, exact
from lockstep.dye.dyed import Cell, Dyed, Part, Row, Step
from lockstep.dye.steps import Look, Posted, Watch, frames, messages, posts
from lockstep.errors import RunError, UsageError
from lockstep.events import Event, Trace
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
    steps: bool = False,
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
    steps: note as well what is where before each round of messages (``steps.py``): for the figure.

    A run that fails gives a ``Dyed`` with ``doubt="failed"`` and the error's name in ``failure``. Raises UsageError
    for a call that makes no sense, and WorldUnavailable when this machine cannot do it.
    """
    members = tuple(range(ranks)) if group is None else tuple(sorted(group))  # as new_group sorts them
    check(linear, members, ranks, elements, weights)
    digits = Digits.of(dtype, len(members), weights)
    numel = elements or max(digits.per_vector, len(members))
    dyed = Dyed(members, numel, str(dtype).removeprefix("torch."), linear)
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
    steps: bool


class Left(NamedTuple):
    """What a call has left: what was returned, as numbers; the argument; and whether that is a result at all."""

    returned: list[float] | None
    argument: list[float]
    is_plain: bool
    posted: list[Posted]
    chosen: int  # the buffer that became the result

    @property
    def result(self) -> list[float]:
        return self.argument if self.returned is None else self.returned


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
            left.append(play_one(fn, plan, tensor, group))
    return left


def play_one(fn: Callable[..., Any], plan: Plan, tensor: torch.Tensor, group: Any) -> Left:
    """One call of ``fn``."""
    extra = copy.deepcopy(plan.extra)
    watch = Watch(group, tensor)
    with watch if plan.steps else nullcontext():
        returned = fn(tensor, *extra, group=group)
    result = tensor if returned is None else returned
    return Left(numbers(returned), numbers(tensor) or [], is_plain(returned), watch.posted, watch.chosen(result))


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
    if not all(call.is_plain for of_rank in left for call in of_rank):
        return replace(dyed, doubt="value")
    returned = tuple(of_rank[0].returned is not None for of_rank in left)
    if any((call.returned is not None) != returned[rank] for rank, of_rank in enumerate(left) for call in of_rank):
        return replace(dyed, doubt="shape")
    results = [[call.result for call in of_rank] for of_rank in left]
    found = read_map(replace(dyed, returned=returned), digits, control, results)
    arguments = [[call.argument for call in of_rank] for of_rank in left]
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
    for *seen, controlled in values:
        row = read_row(dyed, digits, seen)
        if row is None:
            return replace(dyed, doubt="digit")
        if not agrees(dyed.weights, row, seen[0], control, controlled):
            return replace(dyed, doubt="control")
        rows.append(row)
    return replace(dyed, rows=tuple(rows))


def read_row(dyed: Dyed, digits: Digits, values: Sequence[Values]) -> Row | None:
    """A tensor from its values in the calls (1) and (2); None for what is no sum of the dye."""
    zeros, *colours = values
    cells = [read_cell(dyed, digits, [v[e] - zeros[e] for v in colours]) for e in range(len(zeros))]
    return tuple(cell for cell in cells if cell is not None) if None not in cells else None


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


def agrees(weights: int, row: Row, zeros: Values, control: list[list[float]], there: Values) -> bool:
    """Whether the map gives what the function gave. Two maps differ by a quarter of a part or more; an eighth of that
    is left to rounding."""
    for cell, zero, value in zip(row, zeros, there, strict=True):
        parts = (Fraction(control[p.rank][p.element]) * p.times for p in cell)
        expected = zero + sum(parts, Fraction(0)) / weights
        if abs(value - expected) * 32 * weights > 1:
            return False
    return True


# ---- what was where on the way


def read_steps(dyed: Dyed, digits: Digits, left: Sequence[Sequence[Left]], trace: Trace) -> tuple[Step, ...]:
    """() where the answer does not send the same messages in each call, or one of them is no sum."""
    one_call = of_call(trace, 1)
    looks: list[list[Look]] = []
    carried: list[list[Row]] = []
    for rank, of_rank in zip(dyed.members, left, strict=True):
        posted = [[(p.kind, p.peer, p.tag) for p in call.posted] for call in of_rank]
        events = in_order(dyed, of_rank[1].posted, posts(one_call, rank))
        if events is None or any(post != posted[0] for post in posted) or len({call.chosen for call in of_rank}) > 1:
            return ()
        numbered = range(len(events))
        rows = [row_of(dyed, digits, [call.posted[n].numbers for call in of_rank[:-1]]) for n in numbered]
        if None in rows:
            return ()
        carried.append([row for row in rows if row is not None])
        looks.append([Look(events[n].posted, look_at(dyed, digits, of_rank, n)) for n in numbered])
    return tuple(frames(messages(one_call, dyed.members), dyed.members, looks, dyed.rows, carried))


def of_call(trace: Trace, number: int) -> Trace:
    """The events of one call: those between two of this module's barriers, which have no line of a learner's."""
    kept = []
    for rank in range(trace.ranks):
        call = -1
        for event in trace.of_rank(rank):
            call += event.kind == "barrier" and not event.where
            kept += [event] if call == number else []
    return Trace.of(kept, trace.ranks)


def in_order(dyed: Dyed, posted: Sequence[Posted], events: list[Event]) -> list[Event] | None:
    """The event of each post; None if they do not fit."""
    left, found = list(events), []
    for post in posted:
        same = (e for e in left if (e.kind, e.peer, e.tag) == (post.kind, dyed.members[post.peer], post.tag))
        event = next(same, None)
        if event is None:
            return None
        left.remove(event)
        found.append(event)
    return found if not left else None


def look_at(dyed: Dyed, digits: Digits, of_rank: Sequence[Left], post: int) -> Row | None:
    """What the buffer of the result held at this post; None where the rank had not used it by then."""
    seen = [call.posted[post].buffers[call.chosen :] for call in of_rank[:-1]]
    return row_of(dyed, digits, [buffers[0] for buffers in seen]) if all(seen) else None


def row_of(dyed: Dyed, digits: Digits, numbers: Sequence[list[float]]) -> Row | None:
    """The same from numbers that may be anything."""
    values = [exact(of_call) for of_call in numbers]
    known = [v for v in values if v is not None]
    return read_row(dyed, digits, known) if len(known) == len(values) and len(set(map(len, known))) == 1 else None
