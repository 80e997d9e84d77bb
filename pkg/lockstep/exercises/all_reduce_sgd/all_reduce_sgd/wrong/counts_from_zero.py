"""The learner thought: steps count as Python does."""

import torch.distributed as dist

MISCONCEPTION = "steps-from-zero"
TELL = "Your first step is step 0. Steps count from 1: enumerate(batches, start=1)."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
