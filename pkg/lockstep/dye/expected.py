"""The expected provenance of a result, in the form of ``Dyed.rows``: sum, average, a rank's tensor, shifted, ..."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from lockstep.dye.provenance import Dyed

Share = tuple[int, int, Fraction]  # rank, element, multiplicity
Name = Literal["sum", "average", "tensor", ""]


@dataclass(frozen=True)
class Wanted:
    """The expected result. ``rows[rank][element]``: its parts; None for a rank whose result does not matter. ``name``
    and ``root`` are for messages: the sum, the average, rank ``root``'s tensor."""

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
    """Rank ``root``'s tensor on every rank. ``root`` is a rank of the group."""
    row = tuple(((root, element, Fraction(1)),) for element in range(dyed.elements))
    return Wanted((row,) * dyed.ranks, "tensor", root)


def shifted(dyed: Dyed, by: int = 1) -> Wanted:
    """On rank r the tensor of rank r - ``by``: with 1, that of the left neighbour."""
    ranks = range(dyed.ranks)
    elements = range(dyed.elements)
    return Wanted(tuple(tuple((((r - by) % dyed.ranks, e, Fraction(1)),) for e in elements) for r in ranks))


def like(right: Dyed) -> Wanted:
    """The provenance found for a correct answer: for any other collective."""
    rows = tuple(
        tuple(tuple((p.rank, p.element, Fraction(p.times, right.weights)) for p in c) for c in row)
        for row in right.rows
    )
    return Wanted(rows)


def only_at(wanted: Wanted, rank: int) -> Wanted:
    """``wanted`` for one rank only, as in a reduce."""
    return replace(wanted, rows=tuple(row if r == rank else None for r, row in enumerate(wanted.rows)))


def _everybody(dyed: Dyed, share: Fraction, name: Name) -> Wanted:
    row = tuple(tuple((rank, e, share) for rank in range(dyed.ranks)) for e in range(dyed.elements))
    return Wanted((row,) * dyed.ranks, name)
