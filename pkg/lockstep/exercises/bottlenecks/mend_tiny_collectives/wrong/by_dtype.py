"""The learner thought: what comes back is in the order in which it went."""

import torch
import torch.distributed as dist

MISCONCEPTION = "order-of-dtypes"
TELL = "You return the tensors dtype by dtype. They belong into the order in which they came."


def mend_tiny_collectives(gradients, loss, samples, group=None):

    sums = []
    tensors = [*gradients, loss, torch.tensor(float(samples))]
    for dtype in (torch.float64, torch.float32):
        own = [tensor for tensor in tensors if tensor.dtype == dtype]
        if own:
            buffer = torch.cat([tensor.flatten() for tensor in own])
            dist.all_reduce(buffer, group=group)
            parts = buffer.split([tensor.numel() for tensor in own])
            sums += [part.view(tensor.shape) for part, tensor in zip(parts, own)]
    return [total / sums[-1] for total in sums[:-1]]
