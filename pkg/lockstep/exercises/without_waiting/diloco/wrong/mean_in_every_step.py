"""The learner thought: gradients are averaged in each step."""

import torch
import torch.distributed as dist

MISCONCEPTION = "averages-gradients"
TELL = "You average the gradients in each step: Algorithm 1, with its bytes. Between two outer steps a rank is alone."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            g = gradient(own, step)
            dist.all_reduce(g, group=group)
            own = own - rate * g / K
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
