"""The learner thought: the models meet when they are trained."""

import torch.distributed as dist

MISCONCEPTION = "mean-only-at-the-end"
TELL = "The models meet only once, after the last step. Let them meet after every period steps, too."


def local_sgd(gradient, w, steps, rate, period, group=None):

    for step in range(steps):
        w = w - rate * gradient(w, step)
    if steps:
        dist.all_reduce(w, group=group)
        w = w / dist.get_world_size(group)
    return w
