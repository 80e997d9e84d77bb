"""The learner thought: choosing can't be differentiated, so the scores need no gradient."""

import torch

MISCONCEPTION = "no-gradient"
TELL = "The choice has no gradient, but the factor r_t has one: it is how the router learns. Leave it within autograd."


def mixture_of_depths(x, router, block, capacity):
    with torch.no_grad():
        r = x @ router
        chosen = torch.argsort(r, descending=True, stable=True)[:capacity].sort().values
    return x.index_add(0, chosen, r[chosen].unsqueeze(1) * block(x[chosen]))
