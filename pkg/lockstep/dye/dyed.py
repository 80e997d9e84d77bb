"""What was found: whose element is where, as plain data that judges, figures and other processes read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

Doubt = Literal["", "failed", "value", "shape", "digit", "control"]


class Part(NamedTuple):
    """``times`` times (in ``Dyed.weights``-ths) element ``element`` of rank ``rank``'s tensor."""

    rank: int
    element: int
    times: int


Cell = tuple[Part, ...]  # an element of a result: by rank, then by element; () is nothing of anybody
Row = tuple[Cell, ...]  # the result of a rank, flattened


class Move(NamedTuple):
    """A message: these elements of somebody went from ``source`` to ``target``, ranks of the group."""

    source: int
    target: int
    elements: tuple[int, ...]


class Step(NamedTuple):
    """What the ranks hold before a round, and the messages of this round. A row is None where it is not known."""

    rows: tuple[Row | None, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Dyed:
    """Who is in the result of a collective. Ranks count in the group: rank r is ``members[r]`` of the world.

    Nothing may be said from it unless it is ``certain``. ``doubt`` says why it is not::

        failed    the run ended with an error, whose type's name is ``failure``: "Deadlock", "RankRaised" ...
        value     a rank returned something else than a tensor, a list of tensors or None
        shape     a result has another length, or is returned or not, depending on the values
        digit     a value is no sum of the ranks' elements: a product, a maximum, a rounded sum
        control   the map that the dye shows is not what the function does to other values
    """

    members: tuple[int, ...]
    elements: int  # of each rank's tensor
    dtype: str  # "float64"
    affine: bool = False  # whether a result may hold what came from nobody
    weights: int = 1  # the common denominator of all ``times``
    rows: tuple[Row, ...] = ()  # the result of each rank: what it returned, or else its argument afterwards
    alone: tuple[tuple[float, ...], ...] = ()  # what each of them is where all tensors are zero
    in_place: tuple[Row, ...] | None = None  # the arguments afterwards, likewise; None if that cannot be said
    returned: tuple[bool, ...] = ()  # whether each rank returned anything
    doubt: Doubt = ""
    failure: str = ""
    steps: tuple[Step, ...] = ()  # on the way, if they were asked for and can be said (``on_the_way.py``)

    @property
    def certain(self) -> bool:
        return not self.doubt

    @property
    def ranks(self) -> int:
        """K: how many ranks the group has."""
        return len(self.members)

    def to_json(self) -> dict[str, Any]:
        """Plain data; ``from_json`` reads it back."""
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
