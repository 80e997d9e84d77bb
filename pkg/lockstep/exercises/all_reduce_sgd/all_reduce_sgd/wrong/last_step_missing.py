"""The learner thought: range(1, T) has T steps."""

import torch.distributed as dist

MISCONCEPTION = "last-step-missing"
TELL = "range(1, T) ends with T − 1: you leave out the last step."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t in range(1, len(batches)):
        g = gradient(w, *batches[t - 1])
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
