"""The learner thought: with as many ranks the shard is what was saved."""

import torch

MISCONCEPTION = "too-many-numbers"


def reshard(read, numel, old, new, rank):
    a, b = -(-numel // old), -(-numel // new)
    if old == new:
        return read(rank, 0, b)
    begin, end = rank * b, min((rank + 1) * b, numel)
    result = torch.zeros(b)
    for k in range(old):
        lo, hi = max(begin, k * a), min(end, (k + 1) * a)
        if lo < hi:
            result[lo - begin : hi - begin] = read(k, lo - k * a, hi - k * a)
    return result
