"""The learner thought: dy is mine, so I add up in it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-in-place"
TELL = "f adds up in dy itself. Others may have that tensor, too, as the x beside f(x) in x + f(x). Add up a copy."


def regions(group=None):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.contiguous()
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
            return dy

    return F.apply, G.apply
