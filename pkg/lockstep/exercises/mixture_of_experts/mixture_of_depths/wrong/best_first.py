"""The learner thought: the block gets the tokens as top-k has them."""

import torch

MISCONCEPTION = "best-first"
TELL = "Your block gets the tokens in the order of their scores. Sort the chosen places: in the block, each token sees those before it in the sequence."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity]
    return x.index_add(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
