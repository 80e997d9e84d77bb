"""The learner thought: argsort gives the best first."""

import torch

MISCONCEPTION = "lowest-scores"
TELL = "The tokens with the lowest scores go through your block. It should be those with the highest ones."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
