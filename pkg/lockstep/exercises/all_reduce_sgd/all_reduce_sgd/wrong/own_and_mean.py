"""The learner thought: all_reduce returns the sum."""

import torch.distributed as dist

MISCONCEPTION = "sum-lost"
TELL = "Each rank goes on with its own gradient. Does the sum reach your update? An all-reduce writes it into the tensor that you give it, not into another one."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g.clone(), group=group)
        w = w - alpha(t) / K * g
    return w
