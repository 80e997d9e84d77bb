"""The learner thought: flatten the memory as it lies."""

import torch
import torch.distributed as dist

MISCONCEPTION = "memory-order"
TELL = "A transposed gradient lies column by column in memory. You cut the buffer as if it lay row by row: flatten() goes by rows, whatever the memory is."


def mend_tiny_collectives(gradients, loss, samples, group=None):
    tensors = [*gradients, loss, torch.tensor(float(samples))]
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            buffer = torch.cat([torch.as_strided(tensors[n], (tensors[n].numel(),), (1,)) for n in own])
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([tensors[n].numel() for n in own])):
                sums[n] = part.view(tensors[n].shape)
    return [total / sums[-1] for total in sums[:-1]]
