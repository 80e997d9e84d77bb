"""The learner thought: a shard has numel // ranks numbers."""

import torch

MISCONCEPTION = "wrong-shape"


def reshard(read, numel, old, new, rank):
    n, own = numel // old, numel // new
    first, last = rank * own, (rank + 1) * own
    parts = []
    for q in range(old):
        begin, end = max(first, q * n), min(last, (q + 1) * n)
        if begin < end:
            parts.append(read(q, begin - q * n, end - q * n))
    return torch.cat(parts) if parts else torch.empty(0)
