"""The learner made sums of the means, and divided by the number of ranks alone."""

import torch.distributed as dist

MISCONCEPTION = "sums-over-the-batch"
TELL = "You multiply by B′, as if a sum over the examples were to be averaged. gradient(w, x, y) is their mean already: divide the ranks' sum by K alone."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y) * len(x)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
