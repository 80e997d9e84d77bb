"""The learner thought: batch t belongs to step t."""

import torch.distributed as dist

MISCONCEPTION = "first-batch-missing"
TELL = "The batch of step 1 is batches[0]: you never use it, and make a step too few."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t in range(1, len(batches)):
        g = gradient(w, *batches[t])
        dist.all_reduce(g, group=group)
        w = w - alpha(t) / K * g
    return w
