"""The learner kept one tensor for all gradients, as .grad does, and never set it to zero."""

import torch.distributed as dist

MISCONCEPTION = "adds-up-gradients"
TELL = "Your gradients add up from step to step. Each step takes the gradient of its own batch alone."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    g = 0 * w
    for t, (x, y) in enumerate(batches, start=1):
        g += gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
