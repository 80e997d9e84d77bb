"""A canonical form of a result's provenance (a *profile*), which is equal for equivalent mistakes.

Two learners may make the same mistake although one ring turns left and the other right, or although rank r completes
chunk r in one program and chunk r + 1 in the other. Two profiles are equal if one result becomes the other by renaming
ranks, as far as the symmetry allows::

    shift       ranks on a directed ring: r becomes r + k. A part is identified by its distance on the ring
    rotation    ranks on an undirected ring: r becomes r + k, or k - r
    root        one rank is special; all others are interchangeable
    any         all ranks are interchangeable

and by renaming chunks, and with them the elements of the result. A chunk is one of ``tensor_split(K)``. The form keeps
of each element how much of which rank it contains, whether that comes from the same element (``home``), and its
constant. Equal elements of a chunk count once, so that the size of a chunk does not matter; but if the number of ranks
does not divide the number of elements, renaming changes the chunks, and profiles may differ.

Interchangeable ranks are distinguished by what they hold and by which ranks hold their data, and repeatedly by the
classes found so far: colour refinement, as in tests of graph isomorphism (Weisfeiler and Leman, 1968). Two results that
it cannot distinguish have the same profile, though they may be different.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any, Literal

from lockstep.dye.provenance import Dyed
from lockstep.errors import UsageError

Symmetry = Literal["shift", "rotation", "root", "any"]
Role = Callable[[int, int], Any]  # the role of the second rank relative to the first

WAYS = {"shift": (1,), "rotation": (1, -1)}  # round the ring


def profile(dyed: Dyed, symmetry: Symmetry = "rotation", root: int | None = None) -> str:
    """The canonical form as JSON text; "" if ``dyed`` is not certain. ``root`` is a rank of the group.

    Raises UsageError for an unknown symmetry, and for "root" without a root."""
    if symmetry not in (*WAYS, "root", "any"):
        raise UsageError(f"There is no symmetry {symmetry!r}.", "Write shift, rotation, root or any.")
    if symmetry == "root" and (root is None or not 0 <= root < dyed.ranks):
        raise UsageError(f"root={root} is no rank of the group.", "Say which rank it is: root=0.")
    if not dyed.certain:
        return ""
    rows = _ring(dyed, WAYS[symmetry]) if symmetry in WAYS else _alike(dyed, root if symmetry == "root" else None)
    return json.dumps({"weights": dyed.weights, "rows": rows}, separators=(",", ":"))


def _ring(dyed: Dyed, ways: tuple[int, ...]) -> list[Any]:
    """The rows in the order of the ring: the lexicographically smallest of all starts and directions."""
    K, found = dyed.ranks, []
    for way in ways:
        distance = partial(_distance, K, way)
        seen = [_row(dyed, rank, distance) for rank in range(K)]
        found += [[seen[(begin + way * step) % K] for step in range(K)] for begin in range(K)]
    return min(found)


def _distance(K: int, way: int, me: int, other: int) -> int:
    return way * (other - me) % K


def _alike(dyed: Dyed, root: int | None) -> list[Any]:
    """The sorted descriptions of all ranks after colour refinement has converged."""
    colours, known = [int(rank == root) for rank in range(dyed.ranks)], 0
    while len(set(colours)) > known:
        known = len(set(colours))
        seen = _seen(dyed, colours)
        order = [found for found, _ in groupby(sorted(seen))]
        colours = [order.index(of_rank) for of_rank in seen]
    return sorted(_seen(dyed, colours))


def _seen(dyed: Dyed, colours: list[int]) -> list[Any]:
    """For each rank its colour, what it holds, and which ranks hold its data."""
    rows = [_row(dyed, me, lambda me, other: [me == other, colours[other]]) for me in range(dyed.ranks)]
    return [[colours[me], rows[me], _spread(dyed, me, colours)] for me in range(dyed.ranks)]


def _spread(dyed: Dyed, me: int, colours: list[int]) -> list[Any]:
    """For each rank that holds data of rank ``me``: its colour, the multiplicities, and whether in place."""
    holders = []
    for holder, row in enumerate(dyed.rows):
        counts = {
            (part.element == home(dyed, holder, element), part.times)
            for element, cell in enumerate(row)
            for part in cell
            if part.rank == me
        }
        holders.append([colours[holder], holder == me, sorted(counts)])
    return sorted(holder for holder in holders if holder[2])


def _row(dyed: Dyed, rank: int, role: Role) -> list[Any]:
    """A rank's chunks, sorted by their content."""
    length = len(dyed.rows[rank])
    elements = [_element(dyed, rank, element, role) for element in range(length)]
    starts = chunk_starts(length, dyed.ranks)
    chunks = [elements[a:b] for a, b in zip(starts, [*starts[1:], length], strict=True)]
    return sorted([found for found, _ in groupby(sorted(chunk))] for chunk in chunks if chunk)


def _element(dyed: Dyed, rank: int, element: int, role: Role) -> list[Any]:
    at_home = home(dyed, rank, element)
    parts = sorted([part.element == at_home, role(rank, part.rank), part.times] for part in dyed.rows[rank][element])
    return [dyed.alone[rank][element], parts]


def home(dyed: Dyed, rank: int, element: int) -> int:
    """Which element of a tensor belongs there: the same one; in a longer result (a gather) by turns; in a shorter one
    (a scatter) those of the rank's own chunk."""
    length = len(dyed.rows[rank])
    if length >= dyed.elements:
        return element % dyed.elements
    return chunk_starts(dyed.elements, dyed.ranks)[rank] + element


def chunk_starts(length: int, chunks: int) -> list[int]:
    """The starts of the chunks of ``tensor_split``: the first ones are longer by one if they cannot be equal."""
    short, longer = divmod(length, chunks)
    return [short * chunk + min(chunk, longer) for chunk in range(chunks)]
