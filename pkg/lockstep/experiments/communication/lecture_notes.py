"""all_reduce_table(): the lecture notes' table of all-reduces, in their words, next to counts from traces of
programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from lockstep.collectives.halving_doubling import halving_doubling_all_reduce, recursive_doubling_all_reduce
from lockstep.collectives.naive import one_reduce_after_another, star_all_reduce, unchunked_ring_all_reduce
from lockstep.collectives.ring import ring_all_reduce
from lockstep.collectives.tree import binary_tree_all_reduce
from lockstep.experiments.communication.all_reduce_costs import Counts, counted
from lockstep.tables import Table

HEAD = ("program", "in the lecture", "time", "rounds", "peak BW", "busiest sends", "receives", "total", "in all")


@dataclass(frozen=True)
class Row:
    """A line of the table. ``notes``: its name in the notes; ``claims``: their time, peak bandwidth and total."""

    program: str
    run: Callable[[Tensor], object]
    notes: str = "–"
    claims: tuple[str, str, str] = ("–", "–", "–")


ROWS = (
    Row("star: reduce, then broadcast", star_all_reduce, "One-to-many", ("O(1)", "O(K)", "O(K)")),
    Row("binary tree, up and down", binary_tree_all_reduce, "Binary tree", ("O(log K)", "O(1)", "O(K)")),
    Row("one reduce after another", one_reduce_after_another, "Naïve", ("O(K)", "O(K)", "O(K²)")),
    Row("ring, whole tensors", unchunked_ring_all_reduce, "Ring-AllReduce", ("O(K)", "O(1)", "O(K²)")),
    Row("ring, K chunks", ring_all_reduce),
    Row(
        "recursive doubling",
        recursive_doubling_all_reduce,
        "Recursive Halving",
        ("O(log K)", "O(1)", "O(K log K)"),
    ),
    Row("halving-doubling", halving_doubling_all_reduce),
)


def all_reduce_table(*ranks: int) -> Table:
    """Each all-reduce of the notes, and two that they omit, run on these numbers of ranks (powers of two): rounds, what
    the busiest rank sends and receives, and what all send, in tensors."""
    counts = [[counted(row.run, K) for K in ranks] for row in ROWS]
    caption = f"Counted for K = {_steps(ranks)} ranks. Sizes are in tensors of N bytes."
    return Table(caption, HEAD, [_told(row, found) for row, found in zip(ROWS, counts, strict=True)])


def _told(row: Row, found: list[Counts]) -> list[str]:
    time, peak, total = row.claims
    rounds, sends = _steps([c.rounds for c in found]), _steps([c.sends for c in found])
    receives, in_all = _steps([c.receives for c in found]), _steps([c.total for c in found])
    return [row.program, row.notes, time, rounds, peak, sends, receives, total, in_all]


def _steps(numbers: list[float] | tuple[float, ...]) -> str:
    """As in "6 → 30"."""
    return " → ".join(f"{number:.4g}" for number in numbers)
