"""The learner thought: w -= … saves memory."""

import torch.distributed as dist

MISCONCEPTION = "changes-arguments"


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w -= rate * gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(w, group=group)
            w /= K
    return w
