"""The learner thought: a rank trains on where it stands."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-models-go-on"
TELL = "After a round your ranks go on with their own models. Each round begins with the common w."


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    own = w
    for begin in range(0, steps, period):
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / K
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
