"""The learner thought: when all steps are done, the models are averaged."""

import torch.distributed as dist

MISCONCEPTION = "last-mean-twice"
TELL = (
    "Where period divides steps, you average twice after the last step. The second time all models are equal already."
)


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0:
            dist.all_reduce(w, group=group)
            w = w / K
    if steps:
        dist.all_reduce(w, group=group)
        w = w / K
    return w
