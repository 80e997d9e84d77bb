"""The learner thought: after every period steps says it all."""

import torch.distributed as dist

MISCONCEPTION = "last-mean-missing"
TELL = "The models are not averaged after the last step, unless period divides steps: each rank returns another one."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0:
            dist.all_reduce(w, group=group)
            w = w / K
    return w
