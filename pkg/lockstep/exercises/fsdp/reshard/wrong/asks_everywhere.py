"""The learner thought: where there is nothing to read, read raises an error, and no harm is done."""

import torch

MISCONCEPTION = "too-many-reads"


def reshard(read, numel, old, new, rank):
    o, n = -(-numel // old), -(-numel // new)
    shard, first = torch.zeros(n), rank * n
    for r in range(old):
        low, high = max(first, r * o), min(first + n, (r + 1) * o, numel)
        try:
            shard[low - first : high - first] = read(r, low - r * o, high - r * o)
        except IndexError:
            pass
    return shard
