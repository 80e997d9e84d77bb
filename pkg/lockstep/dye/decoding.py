"""Decoding a dye: from the results of all calls to the affine map that gives them.

The calls are those of ``dyed_run``: (1) zeros, (2) each rank's dye, in as many vectors as necessary, (3) the control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import torch

from lockstep.dye.encoding import Digits, exact
from lockstep.dye.provenance import Cell, Dyed, Part, Row

Values = list[Fraction]  # the elements of a tensor, exactly


class Posted(NamedTuple):
    """A posted message: its numbers if it is a send, and the content of the rank's buffers at that time (``steps``)."""

    kind: str
    peer: int  # in the group
    tag: int
    numbers: list[float]
    buffers: list[list[float]]


class Left(NamedTuple):
    """The result of a call: the return value and the argument as numbers, and whether the return value is valid."""

    returned: list[float] | None
    argument: list[float]
    is_plain: bool
    posted: list[Posted]
    chosen: int  # the buffer that became the result, by number

    @classmethod
    def of(cls, returned: Any, tensor: torch.Tensor, posted: Sequence[Posted] = (), chosen: int = 0) -> Left:
        is_plain = returned is None or numbers(returned) is not None
        return cls(numbers(returned), numbers(tensor) or [], is_plain, list(posted), chosen)

    @property
    def result(self) -> list[float]:
        return self.argument if self.returned is None else self.returned


def numbers(value: Any) -> list[float] | None:
    """The elements of a tensor, or of a list of tensors, concatenated; None for anything else."""
    if isinstance(value, torch.Tensor) and not value.is_complex():
        flat: list[float] = value.detach().flatten().tolist()
        return flat
    if isinstance(value, (list, tuple)) and value:
        parts = [numbers(v) for v in value]
        return [n for part in parts if part is not None for n in part] if None not in parts else None
    return None


def read(dyed: Dyed, digits: Digits, control: list[list[float]], left: Sequence[Sequence[Left]]) -> Dyed:
    """Decode all results. ``left[rank][call]``: the result of each call."""
    if not all(call.is_plain for of_rank in left for call in of_rank):
        return replace(dyed, doubt="value")
    returned = tuple(of_rank[0].returned is not None for of_rank in left)
    if any((call.returned is not None) != returned[rank] for rank, of_rank in enumerate(left) for call in of_rank):
        return replace(dyed, doubt="shape")
    results = [[call.result for call in of_rank] for of_rank in left]
    found = read_map(replace(dyed, returned=returned), digits, control, results)
    arguments = [[call.argument for call in of_rank] for of_rank in left]
    in_place = found if not any(returned) else read_map(dyed, digits, control, arguments)
    return replace(found, in_place=in_counts_of(found, in_place))


def in_counts_of(found: Dyed, other: Dyed) -> tuple[Row, ...] | None:
    """The rows of another map, converted to this one's denominator; None if that is impossible."""
    if not (found.certain and other.certain) or found.weights % other.weights:
        return None
    factor = found.weights // other.weights
    cells = [[tuple(p._replace(times=p.times * factor) for p in cell) for cell in row] for row in other.rows]
    return tuple(map(tuple, cells))


def read_map(dyed: Dyed, digits: Digits, control: list[list[float]], held: Sequence[Sequence[list[float]]]) -> Dyed:
    """The map that gives ``held[rank][call]``: with integer multiplicities if possible, or else with fractions."""
    if any(len(of_call) != len(of_rank[0]) for of_rank in held for of_call in of_rank):
        return replace(dyed, doubt="shape")
    values = [[exact(of_call) for of_call in of_rank] for of_rank in held]
    known = [[v for v in of_rank if v is not None] for of_rank in values]
    if any(len(k) < len(of_rank) for k, of_rank in zip(known, held, strict=True)):
        return replace(dyed, doubt="digit")
    alone = tuple(tuple(of_rank[0]) for of_rank in held)
    for over in dict.fromkeys((1, digits.unit)):
        found = read_rows(replace(dyed, weights=over, alone=alone), digits, control, known)
        if found.certain:
            break
    return found


def read_rows(dyed: Dyed, digits: Digits, control: list[list[float]], values: Sequence[Sequence[Values]]) -> Dyed:
    """The map with multiplicities in units of 1/``dyed.weights``, if that decodes the dye and the control agrees."""
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
    """The provenance of a tensor from its values in calls (1) and (2); None if it is no sum of the dye."""
    zeros, *colours = values
    cells = [read_cell(dyed, digits, [v[e] - z if z else v[e] for v in colours]) for e, z in enumerate(zeros)]
    return tuple(cell for cell in cells if cell is not None) if None not in cells else None


def row_of(dyed: Dyed, digits: Digits, numbers: Sequence[list[float]]) -> Row | None:
    """``read_row`` of arbitrary numbers; None also for infinities, NaNs and different lengths."""
    values = [exact(of_call) for of_call in numbers]
    known = [v for v in values if v is not None]
    return read_row(dyed, digits, known) if len(known) == len(values) and len(set(map(len, known))) == 1 else None


def read_cell(dyed: Dyed, digits: Digits, values: Sequence[Fraction]) -> Cell | None:
    """The provenance of one element from its values in calls (2)."""
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
    """Whether the map gives the function's result on the control. Two maps differ by at least a quarter of a part; an
    eighth of that is allowed for rounding."""
    for cell, zero, value in zip(row, zeros, there, strict=True):
        parts = (Fraction(control[p.rank][p.element]) * p.times for p in cell)
        expected = zero + sum(parts, Fraction(0)) / weights
        if abs(value - expected) * 32 * weights > 1:
            return False
    return True
