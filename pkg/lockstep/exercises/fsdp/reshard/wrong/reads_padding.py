"""The learner thought: the padding is in the old shards, so it is read from there."""

import torch

MISCONCEPTION = "reads-padding"
TELL = "You read the padding of old shards. It is no part of the vector: read up to numel, and add zeros."


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    shard = torch.zeros(own)
    first, last = rank * own, min((rank + 1) * own, old * n)
    for q in range(old):
        begin, end = max(first, q * n), min(last, (q + 1) * n)
        if begin < end:
            shard[begin - first : end - first] = read(q, begin - q * n, end - q * n)
    return shard
