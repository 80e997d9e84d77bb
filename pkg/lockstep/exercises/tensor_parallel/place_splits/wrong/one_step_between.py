"""The learner thought: one pointwise layer stands between two linear ones."""

MISCONCEPTION = "one-step-between"
TELL = "Between a layer by columns and one by rows several pointwise layers may stand."


def place_splits(layers, ranks, room):
    linear = [i for i, (kind, n) in enumerate(layers) if kind == "linear"]
    pairs = []
    for i, j in zip(linear, linear[1:]):
        if j - i == 1 or (j - i == 2 and layers[i + 1][0] == "pointwise"):
            pairs.append((i, j))
    total = sum(n for kind, n in layers) * ranks
    # best[c] = (saved numbers, pairs), for c pairs of the first ones
    before, now = {0: (0, ())}, {0: (0, ())}
    last = None
    states = [{0: (0, ())}]
    ends = {}
    at = {}
    for position in range(len(linear) + 1):
        at[position] = {}
    at[0] = {0: (0, ())}
    allowed = set(pairs)
    for position in range(1, len(linear) + 1):
        best = dict(at[position - 1])
        if position >= 2 and (linear[position - 2], linear[position - 1]) in allowed:
            i, j = linear[position - 2], linear[position - 1]
            gain = (layers[i][1] + layers[j][1]) * (ranks - 1)
            for c, (saved, chosen) in at[position - 2].items():
                if c + 1 not in best or saved + gain > best[c + 1][0]:
                    best[c + 1] = (saved + gain, (*chosen, (i, j)))
        at[position] = best
    for c in sorted(at[len(linear)]):
        saved, chosen = at[len(linear)][c]
        if total - saved <= room * ranks:
            out = ["whole"] * len(layers)
            for i, j in chosen:
                out[i], out[j] = "columns", "rows"
            return out
    return ["whole"] * len(layers)
