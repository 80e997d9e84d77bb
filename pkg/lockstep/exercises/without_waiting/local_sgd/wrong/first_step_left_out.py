"""The learner thought: step 0 is no multiple of anything."""

import torch.distributed as dist

MISCONCEPTION = "period-one-too-long"
TELL = "Your first mean comes a step late: after step number period, which is the (period + 1)th, since steps count from 0."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step and step % period == 0) or step == steps - 1:
            dist.all_reduce(w, group=group)
            w = w / K
    return w
