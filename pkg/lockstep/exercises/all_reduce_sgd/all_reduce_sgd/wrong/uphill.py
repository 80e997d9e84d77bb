"""The learner thought: a step adds the gradient."""

import torch.distributed as dist

MISCONCEPTION = "uphill"
TELL = "You add the gradient: the loss grows. A step subtracts it."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w + alpha(t) / K * g
    return w
