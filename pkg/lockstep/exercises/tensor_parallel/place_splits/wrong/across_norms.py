"""The learner thought: columns, then rows: whatever is between."""

MISCONCEPTION = "pairs-across-mixing"
TELL = "You pair layers that have a mixing layer between them. It needs all features of a token, and they lie in parts there: such a pair cannot be."


def place_splits(layers, ranks, room):
    linear = [i for i, (kind, _) in enumerate(layers) if kind == "linear"]
    sizes, total = [layers[i][1] for i in linear], sum(n for _, n in layers)
    saved = [[(0, ())]] + [[(0, ())] for _ in linear]
    for i in range(2, len(linear) + 1):
        for c in range(1, i // 2 + 1):
            options = [saved[i - 2][c - 1]] if c - 1 < len(saved[i - 2]) else []
            pairs = [(n + sizes[i - 2] + sizes[i - 1], (*chosen, i - 2)) for n, chosen in options]
            saved[i].append(max(pairs + saved[i - 1][c : c + 1]))
    splits = ["whole"] * len(layers)
    for n, chosen in saved[-1]:
        if total - n * (ranks - 1) / ranks <= room:
            break
    for i in chosen:
        splits[linear[i]], splits[linear[i + 1]] = "columns", "rows"
    return splits
