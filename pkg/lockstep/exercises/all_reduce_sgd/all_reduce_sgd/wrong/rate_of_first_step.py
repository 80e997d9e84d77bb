"""The learner thought: a learning rate is one number."""

import torch.distributed as dist

MISCONCEPTION = "constant-rate"
TELL = "You use the learning rate of the first step in all steps: ask alpha(t) in step t."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K, rate = dist.get_world_size(group), alpha(1)
    for x, y in batches:
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - rate / K * g
    return w
