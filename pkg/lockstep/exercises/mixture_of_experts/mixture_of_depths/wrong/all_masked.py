"""The learner thought: let all through, and keep what was chosen."""

import torch

MISCONCEPTION = "all-through"
TELL = "All tokens go through your block, and you keep some of what it makes. That saves nothing; and in the block, the chosen tokens should see each other alone."


def mixture_of_depths(x, router, block, capacity):
    r = x @ router
    chosen = torch.argsort(r, descending=True, stable=True)[:capacity]
    mask = torch.zeros_like(r).index_fill(0, chosen, 1.0)
    return x + (mask * r).unsqueeze(1) * block(x)
