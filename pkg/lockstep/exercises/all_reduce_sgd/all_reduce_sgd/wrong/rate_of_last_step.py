"""The learner took the learning rate of the last step."""

import torch.distributed as dist

MISCONCEPTION = "constant-rate"
TELL = "You use the learning rate of step T in all steps: ask alpha(t) in step t."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for x, y in batches:
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(len(batches)) / K * g
    return w
