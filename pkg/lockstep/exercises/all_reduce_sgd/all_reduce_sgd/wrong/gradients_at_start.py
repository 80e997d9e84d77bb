"""The learner thought: the gradient is taken at the w that was given."""

import torch.distributed as dist

MISCONCEPTION = "gradients-at-the-start"
TELL = "All your gradients are those at the start w₀. Step t needs the gradient at the w that step t − 1 gave."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K, start = dist.get_world_size(group), w
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(start, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
