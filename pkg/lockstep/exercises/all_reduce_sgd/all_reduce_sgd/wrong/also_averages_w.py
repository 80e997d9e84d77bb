"""The learner thought: to be sure, the models are averaged as well."""

import torch.distributed as dist

MISCONCEPTION = "averages-w-too"
TELL = "Two all-reduces a step. One is enough, of the gradient: all have equally many examples, and after equal steps from an equal start w is the same everywhere."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
        dist.all_reduce(w, group=group)
        w = w / K
    return w
