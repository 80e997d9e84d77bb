"""The learner thought: first see what the block gives."""

import torch

MISCONCEPTION = "too-many-rows"
TELL = "Call the block once and keep what it gives."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    y = x.clone()
    if block(x).shape == x.shape:
        y[chosen] = x[chosen] + r[chosen].unsqueeze(1) * block(x[chosen])
    return y
