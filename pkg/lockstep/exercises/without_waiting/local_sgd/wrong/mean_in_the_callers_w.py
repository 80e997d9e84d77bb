"""The learner thought: each period begins with a common model, and w is mine."""

import torch.distributed as dist

MISCONCEPTION = "changes-arguments"


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        if step % period == 0:
            dist.all_reduce(w, group=group)
            w = w / K
        w = w - rate * gradient(w, step)
    if steps:
        dist.all_reduce(w, group=group)
        w = w / K
    return w
