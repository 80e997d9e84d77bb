"""Only where the buckets change a size can be better: from one size go on to the least that makes other buckets."""

import numpy as np


def bucket_bytes(gradients, ranks, alpha, beta):
    ready, sizes = np.array(gradients).T

    def plan(size):
        made, held = [], 0
        for n, nbytes in enumerate(sizes):
            held += nbytes
            if held >= size:
                made.append((n, held))
                held = 0
        return made + ([(len(sizes) - 1, held)] if held else [])

    def ends(size):
        end = 0.0
        for last, held in plan(size):
            end = max(end, ready[last]) + 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * held * beta
        return end

    tried, size = [], 1
    while size <= sizes.sum():
        tried.append(size)
        full = [held for _, held in plan(size) if held >= size]
        size = int(min(full)) + 1
    return np.int64(min(tried, key=ends))
