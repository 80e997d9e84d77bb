"""The learner thought: a mean of means is the mean."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-means"
TELL = "You average the ranks' means, each counting the same. A rank with more samples counts more: divide the sum of all sums by the sum of all samples."


def mend_tiny_collectives(gradients, loss, samples, group=None):
    tensors = [tensor / max(samples, 1) for tensor in [*gradients, loss]]
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            buffer = torch.cat([tensors[n].flatten() for n in own])
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([tensors[n].numel() for n in own])):
                sums[n] = part.view(tensors[n].shape)
    return [total / dist.get_world_size(group) for total in sums]
