"""Choosing which layers of a chain to cut, by columns and by rows, so that they fit a rank with the fewest all-reduces.

    a layer      (kind, n): "linear" with n numbers of weights; "pointwise", as GeLU; "mixing", as a norm, which needs
                 all features of a token at once
    a rank       has n numbers of a linear layer that is whole, n/K of one that is cut

    columns ── pointwise layers, if any ── rows       features are divided from the first to the last of the three, and
                                                      only pointwise layers can be in between

Each such pair costs two all-reduces, one forward (g) and one backward (f), and saves (n + n')·(1 - 1/K) numbers.
Layers that are whole cost none. So: the fewest pairs, no layer in two of them, that save enough. ``place_splits`` finds
them by

    saved[i][c]    the most that c pairs of the first i linear layers save
                   = max(saved[i-1][c], saved[i-2][c-1] + n_{i-1} + n_i)

Greedily taking the largest pair isn't optimal: of 6, 7, 7, 6 it takes the two in the middle, and the other two cannot
be paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from lockstep.errors import UsageError

Layer = tuple[str, int]
WHOLE, COLUMNS, ROWS = "whole", "columns", "rows"


def place_splits(layers: Sequence[Layer], ranks: int, room: int) -> list[str]:
    """One of "whole", "columns" and "rows" for each layer, with the fewest all-reduces. Raises UsageError where no
    choice fits a rank with ``room`` numbers."""
    linear = [i for i, (kind, _) in enumerate(layers) if kind == "linear"]
    together = [pointwise_between(layers, a, b) for a, b in pairwise(linear)]
    saved = best_savings([layers[i][1] for i in linear], together)
    excess = sum(n for _, n in layers) - room
    for c, most in enumerate(saved[-1]):
        if (ranks - 1) * most >= ranks * excess:
            splits = [WHOLE] * len(layers)
            for first in chosen(saved, [layers[i][1] for i in linear], together, c):
                splits[linear[first]], splits[linear[first + 1]] = COLUMNS, ROWS
            return splits
    raise UsageError(f"{ranks} ranks have no room for {sum(n for _, n in layers)} numbers with {room} each.")


def best_savings(sizes: Sequence[int], together: Sequence[bool]) -> list[list[float]]:
    """The table saved[i][c]; -inf where c pairs are impossible."""
    most = len(sizes) // 2 + 1
    saved = [[0.0] + [float("-inf")] * (most - 1) for _ in range(len(sizes) + 1)]
    for i in range(2, len(sizes) + 1):
        for c in range(1, most):
            pair = saved[i - 2][c - 1] + sizes[i - 2] + sizes[i - 1] if together[i - 2] else float("-inf")
            saved[i][c] = max(saved[i - 1][c], pair)
    return saved


def chosen(saved: Sequence[Sequence[float]], sizes: Sequence[int], together: Sequence[bool], c: int) -> Iterator[int]:
    """The first linear layer of each of the c pairs that save the most, by its number among them."""
    i = len(sizes)
    while c:
        if saved[i][c] == saved[i - 1][c]:
            i -= 1
        else:
            i, c = i - 2, c - 1
            yield i


def most_saved(layers: Sequence[Layer]) -> float:
    """The most numbers that can be in pairs: all that cutting can reduce."""
    linear = [i for i, (kind, _) in enumerate(layers) if kind == "linear"]
    together = [pointwise_between(layers, a, b) for a, b in pairwise(linear)]
    return max(best_savings([layers[i][1] for i in linear], together)[-1])


def all_reduces(layers: Sequence[Layer], splits: Sequence[str]) -> int:
    """The number of all-reduces in a step. Raises UsageError for invalid splits."""
    if broken := broken_rule(layers, splits):
        raise UsageError(f"These splits cannot be: {broken}.", "After columns come pointwise layers, then rows.")
    return 2 * splits.count(ROWS)


def broken_rule(layers: Sequence[Layer], splits: Sequence[str]) -> str:
    """The first layer whose split is invalid, with the reason; "" if all are valid."""
    columns = None  # the layer since which features are divided
    for i, ((kind, _), split) in enumerate(zip(layers, splits, strict=True)):
        if kind != "linear" and split != WHOLE:
            return f"layer {i} is {kind}, and only linear layers are cut"
        if columns is None and split == ROWS:
            return f"layer {i} is cut by rows, and no layer by columns leads to it"
        if columns is not None and kind == "mixing":
            return f"layer {i} is mixing, and features lie in parts since layer {columns}"
        if columns is not None and kind == "linear" and split != ROWS:
            return f"layer {i} isn’t cut by rows, and features lie in parts since layer {columns}"
        columns = {COLUMNS: i, ROWS: None}.get(split, columns)
    return "" if columns is None else f"layer {columns} is cut by columns, and no layer by rows follows"


def beside_the_best(layers: Sequence[Layer], ranks: int, room: int, splits: Sequence[str]) -> str:
    """What is wrong with ``splits``, or how few all-reduces would do; "" for the optimum. Exact, without rounding."""
    if broken := broken_rule(layers, splits):
        return broken
    times = sum(n * (ranks if split == WHOLE else 1) for (_, n), split in zip(layers, splits, strict=True))
    if times > ranks * room:
        return f"a rank holds {times / ranks:,.6g} numbers, and has room for {room:,}"
    have, fewest = all_reduces(layers, splits), all_reduces(layers, place_splits(layers, ranks, room))
    return f"that costs {have} all-reduces, and {fewest} are enough" if have > fewest else ""


def held(layers: Sequence[Layer], splits: Sequence[str], ranks: int) -> float:
    """How many numbers a rank holds."""
    return sum(n if split == WHOLE else n / ranks for (_, n), split in zip(layers, splits, strict=True))


def tried_all(layers: Sequence[Layer], ranks: int, room: int) -> int | None:
    """The fewest all-reduces by exhaustive search; None if no choice fits."""
    best = None
    options = [(WHOLE, COLUMNS, ROWS) if kind == "linear" else (WHOLE,) for kind, _ in layers]
    for splits in product(*options):
        try:
            found = all_reduces(layers, splits)
        except UsageError:
            continue
        if held(layers, splits, ranks) <= room and (best is None or found < best):
            best = found
    return best


def pointwise_between(layers: Sequence[Layer], first: int, last: int) -> bool:
    return all(kind == "pointwise" for kind, _ in layers[first + 1 : last])
