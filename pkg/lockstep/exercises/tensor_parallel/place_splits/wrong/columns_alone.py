"""The learner thought: each layer is cut by itself, the largest first."""

MISCONCEPTION = "columns-without-rows"
TELL = "You cut layers by columns one by one. After columns features lie in parts, until a layer cut by rows follows: every cut is a pair."


def pairs_of(layers):
    """(numbers, first, second) of each two linear layers with nothing but pointwise ones between them."""
    found, last = [], None
    for i, (kind, n) in enumerate(layers):
        if kind == "linear":
            if last is not None:
                found.append((layers[last][1] + n, last, i))
            last = i
        elif kind == "mixing":
            last = None
    return found


def held(layers, splits, ranks):
    return sum(n if split == "whole" else n / ranks for (_, n), split in zip(layers, splits))


def place_splits(layers, ranks, room):
    splits = ["whole"] * len(layers)
    for i in sorted(range(len(layers)), key=lambda i: -layers[i][1]):
        if layers[i][0] == "linear" and held(layers, splits, ranks) > room:
            splits[i] = "columns"
    return splits
