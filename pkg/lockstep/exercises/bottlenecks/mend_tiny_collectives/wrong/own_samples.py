"""The learner thought: each rank divides by its samples."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-samples"
TELL = "You divide the sums of all ranks by this rank's samples. Divide by those of all."


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
    return [total / max(samples, 1) for total in sums[:-1]]
