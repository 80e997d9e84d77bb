"""The learner thought: add it where it belongs."""

import torch

MISCONCEPTION = "changes-arguments"
TELL = "Make y a new tensor: y = x.clone(), or x.index_add(...), which gives a new one."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    x[chosen] += r[chosen].unsqueeze(1) * block(x[chosen])
    return x
