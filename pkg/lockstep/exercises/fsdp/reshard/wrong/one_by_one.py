"""The learner thought: number by number."""

import torch

MISCONCEPTION = "one-by-one"
TELL = "You call read for each number. One call can fetch all that is needed of an old shard."


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    shard = torch.zeros(own)
    for e in range(rank * own, min(numel, (rank + 1) * own)):
        shard[e - rank * own] = read(e // n, e % n, e % n + 1)[0]
    return shard
