"""The learner thought: the sum is what is asked for."""

import torch
import torch.distributed as dist

MISCONCEPTION = "not-divided"
TELL = "These are the sums over all ranks. The means are these, divided by all ranks' samples."


def mend_tiny_collectives(gradients, loss, samples, group=None):
    tensors = [*gradients, loss, torch.tensor(float(samples))]
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            buffer = torch.cat([tensors[n].flatten() for n in own])
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([tensors[n].numel() for n in own])):
                sums[n] = part.view(tensors[n].shape)
    return sums[:-1]
