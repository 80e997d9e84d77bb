"""The learner thought: a single tensor is a buffer already."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-arguments"
TELL = "The buffer of a gradient that is the only one of its dtype is the gradient itself: reshape, view and torch's own flattening copy nothing there. Reduce a copy."


def mend_tiny_collectives(gradients, loss, samples, group=None):
    tensors = [*gradients, loss, torch.tensor(float(samples))]
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            flat = [tensors[n].reshape(-1) for n in own]
            buffer = torch.cat(flat) if len(flat) > 1 else flat[0]
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([tensors[n].numel() for n in own])):
                sums[n] = part.view(tensors[n].shape)
    return [total / sums[-1] for total in sums[:-1]]
