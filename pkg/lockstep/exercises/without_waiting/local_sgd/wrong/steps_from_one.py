"""The learner thought: steps count from 1."""

import torch.distributed as dist

MISCONCEPTION = "steps-from-one"
TELL = "The first step that you ask gradient for is step 1. It is step 0: gradient(w, 0)."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(1, steps + 1):
        w = w - rate * gradient(w, step)
        if step % period == 0 or step == steps:
            dist.all_reduce(w, group=group)
            w = w / K
    return w
