"""With a memory: the least numbers that the layers from i on fill, for each number of pairs; in whole K-ths."""

from functools import cache


def place_splits(layers, ranks, room):
    def partner(i):
        """The linear layer that may follow layer i by rows, or None."""
        for j in range(i + 1, len(layers)):
            if layers[j][0] != "pointwise":
                return j if layers[j][0] == "linear" else None
        return None

    @cache
    def least(i, pairs):
        """(K times the numbers, the pair's partner or None) from layer i on."""
        if i >= len(layers):
            return (0 if pairs == 0 else float("inf")), None
        whole = ranks * layers[i][1] + least(i + 1, pairs)[0], None
        j = partner(i) if layers[i][0] == "linear" and pairs else None
        if j is None:
            return whole
        cut = layers[i][1] + layers[j][1] + least(j + 1, pairs - 1)[0], j
        return min(whole, cut, key=lambda option: option[0])

    pairs = next(c for c in range(len(layers)) if least(0, c)[0] <= ranks * room)
    splits, i = ["whole"] * len(layers), 0
    while i < len(layers):
        _, j = least(i, pairs)
        if j is not None:
            splits[i], splits[j] = "columns", "rows"
            i, pairs = j, pairs - 1
        i += 1
    return splits
