"""The learner thought: new memory is empty."""

import torch

MISCONCEPTION = "padding-not-zero"


def reshard(read, numel, old, new, rank):
    a, b = -(-numel // old), -(-numel // new)
    begin, end = rank * b, min((rank + 1) * b, numel)
    result = torch.empty(b)
    for k in range(old):
        lo, hi = max(begin, k * a), min(end, (k + 1) * a)
        if lo < hi:
            result[lo - begin : hi - begin] = read(k, lo - k * a, hi - k * a)
    return result
