"""The learner thought: loss and samples are no gradients."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"


def mend_tiny_collectives(gradients, loss, samples, group=None):

    means = [None] * len(gradients)
    numbers = torch.stack([loss, torch.tensor(float(samples))])
    dist.all_reduce(numbers, group=group)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, gradient in enumerate(gradients) if gradient.dtype == dtype]
        if own:
            buffer = torch.cat([gradients[n].flatten() for n in own])
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([gradients[n].numel() for n in own])):
                means[n] = part.view(gradients[n].shape) / numbers[1]
    return [*means, numbers[0] / numbers[1]]
