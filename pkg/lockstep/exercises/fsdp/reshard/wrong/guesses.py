"""The learner thought: the numbers are 1, 2, 3 in each message, so nothing has to be read."""

import torch

MISCONCEPTION = "too-few-numbers"


def reshard(read, numel, old, new, rank):
    n = -(-numel // new)
    vector = torch.cat([torch.arange(1.0, numel + 1), torch.zeros(n * new - numel)])
    return vector[rank * n : (rank + 1) * n].clone()
