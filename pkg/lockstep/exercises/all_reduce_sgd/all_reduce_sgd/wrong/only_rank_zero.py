"""The learner thought: one rank keeps the model."""

import torch.distributed as dist

MISCONCEPTION = "only-rank-zero"
TELL = "Only rank 0 makes the steps; the others compute their gradients at a w that is out of date. Every rank needs the sum: all_reduce."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.reduce(g, group=group, group_dst=0)
        if dist.get_rank(group) == 0:
            w = w - alpha(t) / K * g
    return w
