"""The learner thought: an all-reduce is of gradients."""

import torch.distributed as dist

MISCONCEPTION = "averages-gradients"
TELL = "You take the mean of the gradients now and then. The models that have drifted apart in between stay apart: all-reduce w itself."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        g = gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(g, group=group)
            g = g / K
        w = w - rate * g
    return w
