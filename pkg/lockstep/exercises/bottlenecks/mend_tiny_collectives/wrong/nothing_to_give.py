"""The learner thought: a rank without samples has nothing to send."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"
TELL = "A rank without samples returns early, and the others wait for it. Its zeros belong to the sum."


def mend_tiny_collectives(gradients, loss, samples, group=None):
    if samples == 0:
        return [*gradients, loss]
    tensors = [*gradients, loss, torch.tensor(float(samples))]
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            buffer = torch.cat([tensors[n].flatten() for n in own])
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([tensors[n].numel() for n in own])):
                sums[n] = part.view(tensors[n].shape)
    return [total / sums[-1] for total in sums[:-1]]
