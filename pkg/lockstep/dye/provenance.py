"""The provenance of a result: whose elements it contains, as plain data for grading, figures and other processes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

Doubt = Literal["", "failed", "value", "shape", "digit", "control"]


class Part(NamedTuple):
    """``times`` / ``Dyed.weights`` times element ``element`` of rank ``rank``'s tensor."""

    rank: int
    element: int
    times: int


Cell = tuple[Part, ...]  # an element of a result: parts by rank, then by element; () contains no rank's data
Row = tuple[Cell, ...]  # the result of a rank, flattened


class Move(NamedTuple):
    """A message with these elements, from ``source`` to ``target`` (ranks of the group)."""

    source: int
    target: int
    elements: tuple[int, ...]


class Step(NamedTuple):
    """What the ranks hold before a round, and the messages of this round. A row is None if it is unknown."""

    rows: tuple[Row | None, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Dyed:
    """The provenance of the results of a collective. Ranks are those of the group: rank r is ``members[r]`` globally.

    It is valid only if it is ``certain``. Otherwise ``doubt`` is the reason::

        failed    the run ended with an error, whose type's name is ``failure``: "Deadlock", "RankRaised" ...
        value     a rank returned something other than a tensor, a list of tensors or None
        shape     whether a result is returned, or its length, depends on the values
        digit     a value is no sum of the ranks' elements: a product, a maximum, a rounded sum
        control   the linear map found by the dye does not describe the function on other values
    """

    members: tuple[int, ...]
    elements: int  # of each rank's tensor
    dtype: str  # "float64"
    affine: bool = False  # whether a result may contain constants that come from no rank
    weights: int = 1  # the common denominator of all ``times``
    rows: tuple[Row, ...] = ()  # the result of each rank: its return value, or else its argument afterwards
    alone: tuple[tuple[float, ...], ...] = ()  # the results for zero tensors
    in_place: tuple[Row, ...] | None = None  # the arguments afterwards; None if unknown
    returned: tuple[bool, ...] = ()  # whether each rank returned anything
    doubt: Doubt = ""
    failure: str = ""
    steps: tuple[Step, ...] = ()  # the rounds of the algorithm, if requested and known (``rounds.py``)

    @property
    def certain(self) -> bool:
        return not self.doubt

    @property
    def ranks(self) -> int:
        """K, the size of the group."""
        return len(self.members)

    def to_json(self) -> dict[str, Any]:
        """Plain data, the inverse of ``from_json``."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Dyed:
        rows, in_place = _rows(data["rows"]), data["in_place"]
        return cls(
            **data
            | {
                "members": tuple(data["members"]),
                "rows": rows,
                "in_place": None if in_place is None else _rows(in_place),
                "alone": tuple(map(tuple, data["alone"])),
                "returned": tuple(data["returned"]),
                "steps": tuple(_step(*step) for step in data["steps"]),
            }
        )


def _rows(data: Any) -> tuple[Row, ...]:
    return tuple(map(_row, data))


def _row(data: Any) -> Row:
    return tuple(tuple(Part(*part) for part in cell) for cell in data)


def _step(rows: Any, moves: Any) -> Step:
    told = (Move(source, target, tuple(elements)) for source, target, elements in moves)
    return Step(tuple(None if row is None else _row(row) for row in rows), tuple(told))
