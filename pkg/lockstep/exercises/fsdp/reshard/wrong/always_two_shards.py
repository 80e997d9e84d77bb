"""The learner thought: what a rank needs stands in two old shards at most."""

import torch

MISCONCEPTION = "two-shards"
TELL = "Of three old shards or more you read the first two. A new shard may be longer than two old ones together."


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    first, last = rank * own, min(numel, (rank + 1) * own)
    shard = torch.zeros(own)
    for q in (first // n, first // n + 1):
        begin, end = max(first, q * n), min(last, (q + 1) * n)
        if begin < end:
            shard[begin - first : end - first] = read(q, begin - q * n, end - q * n)
    return shard
