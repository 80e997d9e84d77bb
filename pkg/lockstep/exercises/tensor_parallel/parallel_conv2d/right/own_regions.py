"""With an f and a g of its own."""

import torch
import torch.distributed as dist
from torch.nn import functional as F


def parallel_conv2d(x, V, v, W, w, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)

    class Border(torch.autograd.Function):
        """The sum of all ranks, forward or backward."""

        @staticmethod
        def forward(ctx, x, forward):
            ctx.forward = forward
            return total(x) if forward else x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            return (dy if ctx.forward else total(dy)), None

    def total(x):
        x = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(x, group=group)
        return x

    channels = torch.arange(len(V)).tensor_split(K)[r]
    inside = F.conv2d(Border.apply(x, False), V[channels], v[channels], padding=1).clamp(min=0)
    return Border.apply(F.conv2d(inside, W[:, channels], padding=1), True) + w.reshape(1, -1, 1, 1)
