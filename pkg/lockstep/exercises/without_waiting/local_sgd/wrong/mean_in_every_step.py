"""The learner thought: to be safe, average often."""

import torch.distributed as dist

MISCONCEPTION = "mean-in-every-step"
TELL = "You average in every step, whatever the period is. That is Algorithm 1, with as many bytes."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        dist.all_reduce(w, group=group)
        w = w / K
    return w
