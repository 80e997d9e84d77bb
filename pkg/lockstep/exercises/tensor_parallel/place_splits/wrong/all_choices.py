"""The learner thought: a computer can try all choices."""

from itertools import product

MISCONCEPTION = "crashed:Stuck"


def pairs(layers, splits):
    inside = False
    for (kind, _), split in zip(layers, splits):
        if (split == "rows") != (inside and kind == "linear") or (inside and kind == "mixing"):
            return None
        inside = split == "columns" or (inside and split != "rows")
    return None if inside else splits.count("rows")


def place_splits(layers, ranks, room):
    best = None
    for splits in product(*[["whole", "columns", "rows"] if kind == "linear" else ["whole"] for kind, _ in layers]):
        held = sum(n if split == "whole" else n / ranks for (_, n), split in zip(layers, splits))
        count = pairs(layers, splits)
        if count is not None and held <= room and (best is None or count < best[0]):
            best = count, list(splits)
    return best[1]
