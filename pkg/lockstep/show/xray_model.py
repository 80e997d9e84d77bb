"""The cells of an X-ray, as data: for each rank, whether its numbers are in it, and whether they belong there.

Neighbouring elements that hold the same, each in its place, are one band: mostly a chunk of a ring. Bands are those of
all frames together, so that they stay where they are from step to step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lockstep.dye.expected import Wanted
from lockstep.dye.provenance import Cell, Dyed, Move, Part, Row

State = Literal["in", "missing", "strange", "absent"]
Shares = dict[tuple[int, int], Fraction]  # (rank, element): how often


@dataclass(frozen=True)
class Slot:
    """One rank's place in a cell. ``label``: its number, and how often it is there or from which element."""

    rank: int
    state: State
    label: str


@dataclass(frozen=True)
class Seen:
    """A cell: a slot for each rank of the group, what came from nobody, and whether it is as it should be."""

    slots: tuple[Slot, ...]
    alone: float
    is_right: bool


@dataclass(frozen=True)
class Band:
    """Elements ``first`` to ``last``, with a cell for each rank; None where there is none, or nothing is known."""

    first: int
    last: int
    cells: tuple[Seen | None, ...]

    @property
    def label(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Frame:
    """One step: the bands from above to below, and the messages that come next."""

    bands: tuple[Band, ...]
    moves: tuple[Move, ...] = ()


Rows = Sequence[Row | None]


def frames(dyed: Dyed, wanted: Wanted | None) -> tuple[Frame, ...]:
    """A frame for each step, if there are any, and the result as the last one."""
    has_steps = all(len(row) == dyed.elements for row in dyed.rows)
    steps = dyed.steps[:-1] if has_steps else ()
    nothing = tuple((0.0,) * dyed.elements for _ in dyed.rows)
    drawn = [(step.rows, nothing, step.moves) for step in steps] + [(dyed.rows, dyed.alone, ())]
    spans = _spans([(rows, alone) for rows, alone, _ in drawn])
    return tuple(
        Frame(tuple(_band(dyed, rows, alone, wanted, span) for span in spans), tuple(moves))
        for rows, alone, moves in drawn
    )


Alone = Sequence[Sequence[float]]


def _spans(drawn: Sequence[tuple[Rows, Alone]]) -> list[tuple[int, int]]:
    """The first and last element of each band."""
    longest = max((len(row) for rows, _ in drawn for row in rows if row is not None), default=0)
    firsts = [e for e in range(longest) if e == 0 or not all(_continues(*one, e) for one in drawn)]
    return list(zip(firsts, [*(first - 1 for first in firsts[1:]), longest - 1], strict=True))


def _continues(rows: Rows, alone: Alone, element: int) -> bool:
    """Whether each rank holds of this element what it holds of the one before."""
    for row, of_nobody in zip(rows, alone, strict=True):
        if row is None or len(row) < element:
            continue
        if len(row) == element:
            return False
        before = tuple(Part(p.rank, p.element + 1, p.times) for p in row[element - 1])
        if row[element] != before or of_nobody[element] != of_nobody[element - 1]:
            return False
    return True


def _band(dyed: Dyed, rows: Rows, alone: Alone, wanted: Wanted | None, span: tuple[int, int]) -> Band:
    first, last = span
    cells = (
        _seen(dyed, row[first], alone[rank][first], _belongs(wanted, rank, first))
        if row is not None and first < len(row)
        else None
        for rank, row in enumerate(rows)
    )
    return Band(first, last, tuple(cells))


def _belongs(wanted: Wanted | None, rank: int, element: int) -> Shares | None:
    """What should be in the cell; None if nobody has said so."""
    row = wanted.rows[rank] if wanted is not None else None
    if row is None or element >= len(row):
        return None
    return {(q, e): share for q, e, share in row[element]}


def _seen(dyed: Dyed, cell: Cell, alone: float, belongs: Shares | None) -> Seen:
    held = {(p.rank, p.element): Fraction(p.times, dyed.weights) for p in cell}
    slots = tuple(_slot(rank, held, belongs) for rank in range(dyed.ranks))
    is_right = held == belongs if belongs is not None else {rank for rank, _ in held} == set(range(dyed.ranks))
    return Seen(slots, alone, is_right and (dyed.affine or not alone))


def _slot(rank: int, held: Shares, belongs: Shares | None) -> Slot:
    mine = {key: share for key, share in held.items() if key[0] == rank}
    due = {key: share for key, share in (belongs or {}).items() if key[0] == rank}
    if not mine:
        return Slot(rank, "missing" if due else "absent", str(rank))
    home = {element for _, element in belongs or held}
    usual = max((belongs or {}).values(), default=Fraction(1))
    label = " ".join(_label(rank, e, share, e in home, usual) for (_, e), share in mine.items())
    return Slot(rank, "in" if belongs is None or mine == due else "strange", label)


def _label(rank: int, element: int, share: Fraction, is_home: bool, usual: Fraction) -> str:
    """As in "2", "2×3" for three times, "2[5]" for its element 5."""
    often = "" if share == usual else f"×{share}".replace("-", "\N{MINUS SIGN}")
    return f"{rank}{'' if is_home else f'[{element}]'}{often}"
