"""The learner thought: torch.topk gives the highest scores."""

import torch

MISCONCEPTION = "topk-of-equals"
TELL = "torch.topk promises nothing about equal scores. A stable sort keeps them in their order: the token further to the front goes first."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.topk(r, capacity).indices.sort().values
    return x.index_add(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
