"""The learner thought: a stack needs equal sizes."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-bytes"


def mend_tiny_collectives(gradients, loss, samples, group=None):

    tensors = [*gradients, loss, torch.tensor(float(samples))]
    longest = max(tensor.numel() for tensor in tensors)
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            rows = torch.zeros(len(own), longest, dtype=dtype)
            for row, n in enumerate(own):
                rows[row, : tensors[n].numel()] = tensors[n].flatten()
            dist.all_reduce(rows, group=group)
            for row, n in enumerate(own):
                sums[n] = rows[row, : tensors[n].numel()].view(tensors[n].shape)
    return [total / sums[-1] for total in sums[:-1]]
