"""The learner thought: the backward pass knows the group."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def regions(group=None):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(dy)
            return dy

    class G(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(x, group=group)
            return x

        @staticmethod
        def backward(ctx, dy):
            return dy

    return F.apply, G.apply
