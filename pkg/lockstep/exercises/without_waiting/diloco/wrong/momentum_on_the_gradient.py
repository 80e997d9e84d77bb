"""The learner thought: Nesterov looks ahead by a bit of gradient."""

import torch
import torch.distributed as dist

MISCONCEPTION = "delta-and-v-swapped"
TELL = "Your outer step is η·(v + μ·Δ). It is η·(Δ + μ·v): the momentum belongs to v."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (v + momentum * delta)
    return w
