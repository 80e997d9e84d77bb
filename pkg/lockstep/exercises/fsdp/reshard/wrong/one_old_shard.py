"""The learner thought: what a rank needs stands in one old shard."""

import torch

MISCONCEPTION = "crashed:RankRaised"


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    begin = rank * own
    return read(begin // n, begin % n, begin % n + own)
