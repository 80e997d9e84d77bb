"""The learner thought: local steps are a large batch, gathered over a period."""

import torch
import torch.distributed as dist

MISCONCEPTION = "one-step-a-period"
TELL = "Within a period your w stays where it is: you add up gradients, and take one step. In local SGD each gradient moves this rank's own w, and the next one is taken there."


def local_sgd(gradient, w, steps, rate, period, group=None):
    K = dist.get_world_size(group)
    total = torch.zeros_like(w)
    for step in range(steps):
        total = total + gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(total, group=group)
            w = w - rate * total / K
            total = torch.zeros_like(w)
    return w
