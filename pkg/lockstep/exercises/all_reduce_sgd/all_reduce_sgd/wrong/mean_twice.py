"""The learner thought: better divide before and after."""

import torch.distributed as dist

MISCONCEPTION = "divides-twice"
TELL = "You divide by the number of ranks twice: the step is K times too small."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y) / K
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
