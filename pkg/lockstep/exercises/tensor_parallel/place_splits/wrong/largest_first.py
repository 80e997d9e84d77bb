"""The learner thought: the pair that saves most comes first."""

MISCONCEPTION = "largest-pairs-first"
TELL = "You take the largest pair that is left, again and again. A large pair in the middle can leave neighbours that nobody can pair: of 60, 70, 70, 60 the two outer pairs save more."


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
    for _, i, j in sorted(pairs_of(layers), reverse=True):
        if held(layers, splits, ranks) > room and splits[i] == splits[j] == "whole":
            splits[i], splits[j] = "columns", "rows"
    return splits
