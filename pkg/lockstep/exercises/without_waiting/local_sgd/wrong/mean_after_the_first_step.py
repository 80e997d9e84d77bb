"""The learner thought: step % period == 0 is every period-th step."""

import torch.distributed as dist

MISCONCEPTION = "period-from-the-first-step"
TELL = "You average after the first step, and then after every period more. Steps count from 0: after period steps it is step + 1 that period divides."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if step % period == 0 or step + 1 == steps:
            dist.all_reduce(w, group=group)
            w = w / K
    return w
