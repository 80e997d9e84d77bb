"""The learner thought: the block's output takes the token's place."""

import torch

MISCONCEPTION = "replaced"
TELL = "You put r_t·block(…)_t in the token's place. Add it to x_t: the residual connection is not in the block here."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    return x.index_copy(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
