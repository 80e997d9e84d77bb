"""The learner thought: gather all gradients first, then make one step."""

import torch.distributed as dist

MISCONCEPTION = "gradients-at-the-start"
TELL = "All your gradients are those at the start w₀. Step t needs the gradient at the w that step t − 1 gave."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    total = 0
    for t, (x, y) in enumerate(batches, start=1):
        total = total + alpha(t) * gradient(w, x, y)
    dist.all_reduce(total, group=group)
    return w - total / dist.get_world_size(group)
