"""The learner thought: a large score is one far from 0."""

import torch

MISCONCEPTION = "by-absolute-value"
TELL = "You choose by the absolute value of the scores. −3 is a low score: choose by the scores as they are."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r.abs(), descending=True, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
