"""The learner thought: the fewer numbers on a rank, the better."""

MISCONCEPTION = "holds-the-least"
TELL = "You choose what leaves the fewest numbers on a rank. They only have to fit: fewer pairs cost fewer all-reduces."


def place_splits(layers, ranks, room):
    linear = [i for i, (kind, _) in enumerate(layers) if kind == "linear"]
    sizes = [layers[i][1] for i in linear]
    apart = [any(kind == "mixing" for kind, _ in layers[a:b]) for a, b in zip(linear, linear[1:])]
    best = [[(0, ())] for _ in range(len(linear) + 1)]  # best[i][c]: what c pairs of the first i layers save
    for i in range(2, len(linear) + 1):
        most = min(len(best[i - 2]) + 1, max(len(best[i - 1]), len(best[i - 2]) + 1))
        best[i] = list(best[i - 1])
        for c in range(1, most):
            if not apart[i - 2]:
                n, chosen = best[i - 2][c - 1]
                pair = (n + sizes[i - 2] + sizes[i - 1], (*chosen, i - 2))
                best[i][c : c + 1] = [max([pair, *best[i][c : c + 1]])]
    splits = ["whole"] * len(layers)
    chosen = max(best[-1])[1]
    for i in chosen:
        splits[linear[i]], splits[linear[i + 1]] = "columns", "rows"
    return splits
