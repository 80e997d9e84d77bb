"""The learner thought: a router's scores go through a softmax."""

import torch

MISCONCEPTION = "softmax"
TELL = "You weigh by a softmax over the chosen scores. It is the score itself, r_t."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, r[chosen].softmax(0).unsqueeze(1) * block(x[chosen]))
