"""The learner thought: what can be cut is cut."""

MISCONCEPTION = "cuts-all-it-can"
TELL = "You cut every pair that there is. Each costs two all-reduces: stop as soon as the rest fits."


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
    for _, i, j in pairs_of(layers):
        if splits[i] == splits[j] == "whole":
            splits[i], splits[j] = "columns", "rows"
    return splits
