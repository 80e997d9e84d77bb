"""Functions outside, which get the group as an argument."""

import torch
import torch.distributed as dist


def added_up(x, group):
    copy = torch.empty(x.shape, dtype=x.dtype, device=x.device).copy_(x)
    work = dist.all_reduce(copy, group=group, async_op=True)
    work.wait()
    return copy


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return added_up(dy, ctx.group), None


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        return added_up(x, group)

    @staticmethod
    def backward(ctx, dy):
        return dy, None


def regions(group=None):
    return (lambda x: Copy.apply(x, group)), (lambda x: Reduce.apply(x, group))
