"""The learner thought: one rank needs the sum."""

import torch
import torch.distributed as dist

MISCONCEPTION = "one-rank-only"
TELL = "Only one rank gets the sum. Every rank goes on with g(x): take all_reduce, not reduce."


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
            dist.reduce(x, group_dst=0, group=group)
            return x

        @staticmethod
        def backward(ctx, dy):
            return dy

    return F.apply, G.apply
