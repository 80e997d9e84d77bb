"""The learner thought: the sum over all examples must be divided by their number."""

import torch.distributed as dist

MISCONCEPTION = "divides-by-batch"
TELL = "gradient(w, x, y) is the mean over the examples already: you divide by B′ once more. Divide by the number of ranks alone."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / (K * len(x)) * g
    return w
