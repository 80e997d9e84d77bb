"""The learner thought: async_op=True is faster."""

import torch.distributed as dist

MISCONCEPTION = "never-waited"


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group, async_op=True)
        w = w - alpha(t) / K * g
    return w
