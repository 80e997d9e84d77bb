"""The difference between a result and the expected one: how much is right, and its simplest wrong element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from lockstep.dye.expected import Wanted
from lockstep.dye.provenance import Dyed

Kind = Literal["length", "alone", "times", "own", "cell"]
Shares = Mapping[tuple[int, int], Fraction]  # (rank, element): multiplicity


@dataclass(frozen=True)
class Flaw:
    """The first of these that applies::

        length    the result of ``rank`` has ``there`` elements instead of ``needed``
        alone     every element contains the constant ``alone``, and is right without it
        times     every element is ``factor`` times what it should be
        own       every rank (of at least two) still has its own tensor
        cell      element ``element`` of rank ``rank`` has ``held`` and the constant ``alone`` instead of ``wanted``

    ``right[rank]`` of ``sizes[rank]`` elements are right, for the ranks whose results matter.
    """

    kind: Kind
    right: Mapping[int, int] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    rank: int = 0
    element: int = 0
    held: Shares = field(default_factory=dict)
    wanted: Shares = field(default_factory=dict)
    alone: float = 0.0
    factor: Fraction = Fraction(1)
    there: int = 0
    needed: int = 0


@dataclass(frozen=True)
class Compared:
    """An element of a result, compared with the expected one."""

    rank: int
    element: int
    held: Shares
    wanted: Shares
    alone: float

    @property
    def is_right(self) -> bool:
        return self.held == self.wanted and not self.alone

    @property
    def factor(self) -> Fraction | None:
        """The ratio to the expected element; None if it is no multiple of it, or zero."""
        if self.alone or not self.held or self.held.keys() != self.wanted.keys():
            return None
        factors = {self.held[key] / share for key, share in self.wanted.items()}
        return factors.pop() if len(factors) == 1 else None

    @property
    def is_own(self) -> bool:
        return self.held == {(self.rank, self.element): 1} and not self.alone

    @property
    def pattern(self) -> tuple[int, int, int, int]:
        """A signature of the mistake: how many parts are missing, have a wrong multiplicity, or do not belong there,
        and whether there is a constant."""
        missing = self.wanted.keys() - self.held.keys()
        strange = self.held.keys() - self.wanted.keys()
        differing = [key for key in self.held.keys() & self.wanted.keys() if self.held[key] != self.wanted[key]]
        return len(missing), len(differing), len(strange), int(bool(self.alone))


def find_flaw(dyed: Dyed, wanted: Wanted) -> Flaw | None:
    """The difference; None if there is none, or if ``dyed`` is not certain."""
    if not dyed.certain:
        return None
    judged = [rank for rank, row in enumerate(wanted.rows) if row is not None]
    for rank in judged:
        there, needed = len(dyed.rows[rank]), len(wanted.rows[rank] or ())
        if there != needed:
            return Flaw("length", rank=rank, there=there, needed=needed)
    compared = [c for rank in judged for c in _row(dyed, wanted, rank)]
    wrong = [c for c in compared if not c.is_right]
    return _flaw(dyed, compared, wrong) if wrong else None


def _row(dyed: Dyed, wanted: Wanted, rank: int) -> list[Compared]:
    compared = []
    for element, (cell, shares) in enumerate(zip(dyed.rows[rank], wanted.rows[rank] or (), strict=True)):
        held = {(p.rank, p.element): Fraction(p.times, dyed.weights) for p in cell}
        alone = 0.0 if dyed.affine else dyed.alone[rank][element]
        compared.append(Compared(rank, element, held, {(r, e): share for r, e, share in shares}, alone))
    return compared


def _flaw(dyed: Dyed, compared: list[Compared], wrong: list[Compared]) -> Flaw:
    right, sizes = Counter(c.rank for c in compared if c.is_right), Counter(c.rank for c in compared)
    counted = Flaw("own", {rank: right[rank] for rank in sizes}, dict(sizes))
    if len({c.alone for c in compared}) == 1 and all(c.held == c.wanted for c in compared):
        return replace(counted, kind="alone", alone=compared[0].alone)
    factors = {c.factor for c in compared}
    if len(factors) == 1 and (factor := factors.pop()) is not None:
        return replace(counted, kind="times", factor=factor)
    if dyed.ranks > 1 and all(c.is_own for c in compared):
        return counted
    usual = Counter(c.pattern for c in wrong)
    plain = min(wrong, key=lambda c: (-usual[c.pattern], len(c.held), c.rank, c.element))
    return replace(
        counted, kind="cell", rank=plain.rank, element=plain.element, held=plain.held, wanted=plain.wanted,
        alone=plain.alone,
    )  # fmt: skip
