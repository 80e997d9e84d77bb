"""The learner thought: count the steps since the last mean, and average when there are more than period."""

import torch.distributed as dist

MISCONCEPTION = "period-of-one-more"
TELL = "Between your means there are period + 1 steps, not period."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K, since = dist.get_world_size(group), 0
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if since == period or step + 1 == steps:
            dist.all_reduce(w, group=group)
            w, since = w / K, 0
        else:
            since += 1
    return w
