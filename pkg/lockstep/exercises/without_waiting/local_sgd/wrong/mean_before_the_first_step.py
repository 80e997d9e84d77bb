"""The learner thought: each period begins with a common model."""

import torch.distributed as dist

MISCONCEPTION = "mean-before-the-first-step"
TELL = "You average before step 0 as well, when all models are still equal: that is an all-reduce too many."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    w = w.clone()
    for step in range(steps):
        if step % period == 0:
            dist.all_reduce(w, group=group)
            w = w / K
        w = w - rate * gradient(w, step)
    if steps:
        dist.all_reduce(w, group=group)
        w = w / K
    return w
