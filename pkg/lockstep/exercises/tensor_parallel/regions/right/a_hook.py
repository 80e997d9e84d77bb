"""f is a hook on a view of x; g adds what the others have as a constant."""

import torch
import torch.distributed as dist


def regions(group=None):
    def summed(x):
        x = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(x, group=group)
        return x

    def f(x):
        y = x.view_as(x)
        if y.requires_grad:
            y.register_hook(summed)
        return y

    def g(x):
        return x + (summed(x) - x.detach())

    return f, g
