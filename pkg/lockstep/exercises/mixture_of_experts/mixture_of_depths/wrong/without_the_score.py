"""The learner thought: the score only decides who goes."""

import torch

MISCONCEPTION = "without-the-score"
TELL = "You add what the block makes without r_t. Times the score: that is where the router's gradient comes from."


def mixture_of_depths(x, router, block, capacity):
    chosen = torch.argsort(x @ router, descending=True, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, block(x[chosen]))
