"""The learner thought: rank 0 makes the step and tells the others."""

import torch.distributed as dist

MISCONCEPTION = "reduce-and-broadcast"
TELL = "A reduce and a broadcast in each step: everything waits for rank 0 twice. One all-reduce of the gradient is enough, since equal steps from an equal start stay equal."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.reduce(g, group=group, group_dst=0)
        w = w - alpha(t) / K * g
        dist.broadcast(w, group=group, group_src=0)
    return w
