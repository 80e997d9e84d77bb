"""The learner thought: all_reduce adds up, and what travels forward travels back."""

import torch
import torch.distributed as dist

MISCONCEPTION = "unknown-to-autograd"
TELL = (
    "Autograd sees nothing of dist.all_reduce: in the backward pass f only copies, as it does forward. "
    "Write an autograd.Function, whose backward does the all-reduce."
)


def regions(group=None):
    def f(x):
        return x

    def g(x):
        total = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    return f, g
