"""Running sums in NumPy; the result is an integer of NumPy."""

import numpy as np


def predict_peak(sizes, ranks, stage):
    N = np.array(sizes, dtype=np.int64)
    n = np.ceil(N / ranks).astype(np.int64)
    W = N if stage == 0 else ranks * n
    moves = []
    for w, s in zip(W[::-1], n[::-1]):
        moves += {0: [w], 1: [w], 2: [w, s, -w], 3: [w, w, -w, s, -w]}[stage]
    if stage == 1:
        for w, s in zip(W[::-1], n[::-1]):
            moves += [s, -w]
    always = (n if stage == 3 else W).sum() + 2 * (N if stage == 0 else n).sum()
    return int(4 * (always + max(0, np.cumsum(moves).max())))
