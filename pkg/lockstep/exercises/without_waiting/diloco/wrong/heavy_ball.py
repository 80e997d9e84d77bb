"""The learner thought: momentum is momentum."""

import torch
import torch.distributed as dist

MISCONCEPTION = "no-nesterov"
TELL = "Your outer step is η·v: momentum without Nesterov. So is η·(Δ + μ·v) with the v of the round before: first comes v <- μ·v + Δ, then the step with the new v."


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
        w = w - outer_rate * v
    return w
