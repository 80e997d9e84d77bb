"""The learner thought: x has a gradient, and group has none."""

import torch
import torch.distributed as dist


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        dy = dy.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(dy, group=ctx.group)
        return dy


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, dy):
        return dy


MISCONCEPTION = "crashed:RankRaised"
TELL = "backward has to return a value for each argument of forward, in their order: None for what needs no gradient."
RAISES = "incorrect number of gradients"


def regions(group=None):
    return (lambda x: Copy.apply(x, group)), (lambda x: Reduce.apply(x, group))
