"""The learner thought: put the whole vector together, then cut it anew."""

import torch

MISCONCEPTION = "reads-everything"
TELL = "Each new rank reads all shards. It needs but its own numbers: no rank could hold the whole vector."


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    whole = torch.cat([read(q, 0, n) for q in range(old)])[:numel]
    whole = torch.nn.functional.pad(whole, (0, new * own - numel))
    return whole[rank * own : (rank + 1) * own].clone()
