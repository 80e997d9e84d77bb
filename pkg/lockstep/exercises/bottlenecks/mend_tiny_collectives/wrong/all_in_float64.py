"""The learner thought: one buffer is enough if it can hold everything."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-bytes"


def mend_tiny_collectives(gradients, loss, samples, group=None):

    flat = torch.cat(
        [tensor.flatten().double() for tensor in [*gradients, loss]] + [torch.tensor([float(samples)]).double()]
    )
    dist.all_reduce(flat, group=group)
    means, at = [], 0
    for tensor in [*gradients, loss]:
        part = flat[at : at + tensor.numel()].view(tensor.shape)
        means.append((part / flat[-1]).to(tensor.dtype))
        at += tensor.numel()
    return means
