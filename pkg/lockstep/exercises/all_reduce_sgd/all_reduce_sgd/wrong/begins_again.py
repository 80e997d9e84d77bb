"""The learner subtracted from the given w in every step."""

import torch.distributed as dist

MISCONCEPTION = "begins-again"
TELL = "Each of your steps begins at w₀ again. Step t begins where step t − 1 ended."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    start = w
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = start - alpha(t) / K * g
    return w
