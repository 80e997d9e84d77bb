"""SGD only: the mean of the models after each step is the same number."""

import torch.distributed as dist


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    for t, (x, y) in enumerate(batches, start=1):
        w = w - alpha(t) * gradient(w, x, y)
        dist.all_reduce(w, group=group)
        w = w / dist.get_world_size(group)
    return w
