"""The learner thought: w -= … saves memory."""

import torch.distributed as dist

MISCONCEPTION = "changes-arguments"
TELL = "A step in place, such as w -= …, writes into the caller's tensor. w = w - … makes a new one."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w -= alpha(t) / K * g
    return w
