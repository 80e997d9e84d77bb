"""The learner thought: DiLoCo is local SGD with a longer period."""

import torch
import torch.distributed as dist

MISCONCEPTION = "local-sgd"
TELL = "Your next w is the mean of the models. That is local SGD. The outer step is made by η, μ and v."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K = dist.get_world_size(group)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        w = w - delta
    return w
