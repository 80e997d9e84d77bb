"""The learner thought: the number of ranks is that of the world."""

import torch.distributed as dist

MISCONCEPTION = "size-of-the-world"
TELL = "You divide by the number of all ranks. Of a group it is dist.get_world_size(group)."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size()
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
