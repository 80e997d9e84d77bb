"""The learner thought: f is the one that adds up."""

import torch
import torch.distributed as dist

MISCONCEPTION = "exchanged"
TELL = "These are g and f: f copies forward and adds up backward, g adds up forward and copies backward."


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
            return dy

    return G.apply, F.apply
