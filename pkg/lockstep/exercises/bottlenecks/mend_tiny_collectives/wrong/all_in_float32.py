"""The learner thought: one buffer is enough, in the usual dtype."""

import torch
import torch.distributed as dist

MISCONCEPTION = "float64-lost"
TELL = "You send float64 gradients as float32. What they have beyond seven digits is lost."


def mend_tiny_collectives(gradients, loss, samples, group=None):

    flat = torch.cat(
        [tensor.flatten().float() for tensor in [*gradients, loss]] + [torch.tensor([float(samples)]).float()]
    )
    dist.all_reduce(flat, group=group)
    means, at = [], 0
    for tensor in [*gradients, loss]:
        part = flat[at : at + tensor.numel()].view(tensor.shape)
        means.append((part / flat[-1]).to(tensor.dtype))
        at += tensor.numel()
    return means
