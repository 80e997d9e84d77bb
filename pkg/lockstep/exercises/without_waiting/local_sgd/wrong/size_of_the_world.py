"""The learner thought: the number of ranks is that of the world."""

import torch.distributed as dist

MISCONCEPTION = "size-of-the-world"
TELL = "You divide by the number of all ranks. Of a group it is dist.get_world_size(group)."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size()
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(w, group=group)
            w = w / K
    return w
