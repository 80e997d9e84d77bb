"""What should be in a result: the map of a right answer, in the shape of ``Dyed.rows``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from lockstep.dye.dyed import Dyed

Share = tuple[int, int, Fraction]  # rank, element, and how often
Name = Literal["sum", "average", "tensor", ""]


@dataclass(frozen=True)
class Wanted:
    """``rows[rank][element]``: what belongs there; None for a rank that may hold anything. ``name`` and ``root`` are
    for sentences: the sum, the average, rank ``root``'s tensor."""

    rows: tuple[tuple[tuple[Share, ...], ...] | None, ...]
    name: Name = ""
    root: int | None = None


def total(dyed: Dyed) -> Wanted:
    """The sum over all ranks, on every rank."""
    return _everybody(dyed, Fraction(1), "sum")


def average(dyed: Dyed) -> Wanted:
    """The average over all ranks, on every rank."""
    return _everybody(dyed, Fraction(1, dyed.ranks), "average")


def tensor_of(dyed: Dyed, root: int) -> Wanted:
    """Rank ``root``'s tensor on every rank. ``root`` counts in the group."""
    row = tuple(((root, element, Fraction(1)),) for element in range(dyed.elements))
    return Wanted((row,) * dyed.ranks, "tensor", root)


def shifted(dyed: Dyed, by: int = 1) -> Wanted:
    """On rank r the tensor of rank r - ``by``: 1 is the left neighbour's."""
    ranks = range(dyed.ranks)
    elements = range(dyed.elements)
    return Wanted(tuple(tuple((((r - by) % dyed.ranks, e, Fraction(1)),) for e in elements) for r in ranks))


def like(right: Dyed) -> Wanted:
    """What a right answer was found to give: the map of any other collective."""
    rows = tuple(
        tuple(tuple((p.rank, p.element, Fraction(p.times, right.weights)) for p in c) for c in row)
        for row in right.rows
    )
    return Wanted(rows)


def only_at(wanted: Wanted, rank: int) -> Wanted:
    """The same where only this rank's result counts, as in a reduce."""
    return replace(wanted, rows=tuple(row if r == rank else None for r, row in enumerate(wanted.rows)))


def _everybody(dyed: Dyed, share: Fraction, name: Name) -> Wanted:
    row = tuple(tuple((rank, e, share) for rank in range(dyed.ranks)) for e in range(dyed.elements))
    return Wanted((row,) * dyed.ranks, name)
