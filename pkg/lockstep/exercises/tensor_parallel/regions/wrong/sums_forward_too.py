"""The learner thought: f adds up: on the way back and on the way there."""

import torch
import torch.distributed as dist

MISCONCEPTION = "f-both-ways"
TELL = "f adds up in the forward pass, too. There x is on every rank already: return it."


def regions(group=None):
    class F(torch.autograd.Function):
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
