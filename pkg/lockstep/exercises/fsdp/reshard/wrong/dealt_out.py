"""The learner thought: numbers are dealt out: rank r has r, r + new, r + 2 new."""

import torch

MISCONCEPTION = "dealt-out"
TELL = "You deal the numbers out in turn. A shard is numbers that follow one another."


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    found = torch.zeros(own)
    for at, e in enumerate(range(rank, numel, new)):
        found[at] = read(e // n, e % n, e % n + 1)[0]
    return found
