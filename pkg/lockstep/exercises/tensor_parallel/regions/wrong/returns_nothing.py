"""The learner thought: the gradient of the input has been added up: done."""

import torch
import torch.distributed as dist

MISCONCEPTION = "returns-nothing"
TELL = "f's backward returns nothing, which is no gradient. Return what you have added up."


def regions(group=None):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(dy, group=group)

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
