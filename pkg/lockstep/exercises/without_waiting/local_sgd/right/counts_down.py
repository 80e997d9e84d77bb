"""A counter that runs down, and the mean by a factor."""

import torch.distributed as dist


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    left = period
    for step in range(steps):
        w = w - rate * gradient(w, step)
        left -= 1
        if left == 0 or step == steps - 1:
            dist.all_reduce(w, group=group)
            w, left = w * (1 / K), period
    return w
