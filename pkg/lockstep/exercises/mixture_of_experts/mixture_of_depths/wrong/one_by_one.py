"""The learner thought: each chosen token goes through the block."""

import torch

MISCONCEPTION = "one-by-one"
TELL = "You call the block for each token alone. Give it all C rows in one call: in it, tokens see each other."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    y = list(x)
    for t in torch.argsort(r, descending=True, stable=True)[:capacity].tolist():
        y[t] = x[t] + r[t] * block(x[t : t + 1])[0]
    return torch.stack(y)
