"""Which layers of a chain to cut, by columns and by rows, so that a rank has room for them, with few all-reduces.

    a layer      (kind, n): "linear" with n numbers of weights; "pointwise", as GeLU; "mixing", as a norm, which needs
                 all features of a token at once
    a rank       has n numbers of a linear layer that is whole, n/K of one that is cut

    columns ── pointwise layers, if any ── rows       features lie in parts from the first to the last of the three, and
                                                      nothing but pointwise layers can stand in between

Each such pair costs two all-reduces, one forward (g) and one backward (f), and saves (n + n')·(1 - 1/K) numbers.
Layers that are whole cost none. So: the fewest pairs, no layer in two of them, that save enough. ``place_splits`` finds
them by

    saved[i][c]    the most that c pairs of the first i linear layers save
                   = max(saved[i-1][c], saved[i-2][c-1] + n_{i-1} + n_i)

The largest pairs first isn't best: of 6, 7, 7, 6 they take the two in the middle, and leave two that nobody can pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from lockstep.errors import UsageError

Layer = tuple[str, int]
WHOLE, COLUMNS, ROWS = "whole", "columns", "rows"


def place_splits(layers: Sequence[Layer], ranks: int, room: int) -> list[str]:
    """For each layer "whole", "columns" or "rows". Raises UsageError where no cut leaves a rank with ``room`` numbers
    or fewer."""
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
    """saved[i][c]; -inf where there are no c pairs."""
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


def all_reduces(layers: Sequence[Layer], splits: Sequence[str]) -> int:
    """Of a step. Raises UsageError for splits that cannot be."""
    inside, pairs = False, 0
    for (kind, _), split in zip(layers, splits, strict=True):
        legal = split == (ROWS if inside else split) if kind == "linear" else split == WHOLE
        if not legal or (kind == "mixing" and inside) or (split == ROWS and not inside):
            raise UsageError(
                f"A {kind} layer cannot be {split!r} there.", "After columns come pointwise layers, then rows."
            )
        inside = split == COLUMNS or (inside and split != ROWS)
        pairs += split == ROWS
    if inside:
        raise UsageError("The last columns are followed by no rows.")
    return 2 * pairs


def held(layers: Sequence[Layer], splits: Sequence[str], ranks: int) -> float:
    """Numbers on a rank."""
    return sum(n if split == WHOLE else n / ranks for (_, n), split in zip(layers, splits, strict=True))


def tried_all(layers: Sequence[Layer], ranks: int, room: int) -> int | None:
    """The fewest all-reduces, by trying every choice; None if none has room."""
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
