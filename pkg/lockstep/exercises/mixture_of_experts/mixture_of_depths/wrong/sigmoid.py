"""The learner thought: a weight is between 0 and 1."""

import torch

MISCONCEPTION = "sigmoid"
TELL = "You weigh by the sigmoid of the score. It is the score itself, r_t, whatever its sign."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, r[chosen].sigmoid().unsqueeze(1) * block(x[chosen]))
