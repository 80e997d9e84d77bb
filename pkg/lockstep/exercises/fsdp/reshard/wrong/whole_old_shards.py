"""The learner thought: a shard is what can be read."""

import torch

MISCONCEPTION = "whole-shards"
TELL = "You read whole shards and throw most of it away. Ask for begin and end of what is needed."


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    first, last = rank * own, min(numel, (rank + 1) * own)
    if first >= last:
        return torch.zeros(own)
    q = first // n
    found = torch.cat([read(p, 0, n) for p in range(q, (last - 1) // n + 1)])[first - q * n : last - q * n]
    return torch.nn.functional.pad(found, (0, own - len(found)))
