"""The learner thought: the program is right, so it is good."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"


def mend_tiny_collectives(gradients, loss, samples, group=None):

    count = torch.tensor(float(samples))
    dist.all_reduce(count, group=group)
    means = []
    for tensor in [*gradients, loss]:
        total = tensor.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        means.append(total / count.item())
    return means
