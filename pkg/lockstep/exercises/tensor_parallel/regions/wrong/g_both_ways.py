"""The learner thought: a sum over all ranks has a gradient that is a sum over all ranks."""

import torch
import torch.distributed as dist

MISCONCEPTION = "g-both-ways"
TELL = (
    "g adds up in the backward pass, too. Each summand's gradient is that of the sum, which has already "
    "arrived: pass it on."
)


def regions(group=None):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(dy, group=group)
            return dy

    class G(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(x, group=group)
            return x

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(dy, group=group)
            return dy

    return F.apply, G.apply
