"""The learner thought: what is sent is no part of the graph."""

import torch
import torch.distributed as dist

MISCONCEPTION = "detached"
TELL = "detach() cuts the graph: what stands before g gets no gradient. g's backward passes dy on."


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

    def g(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    return F.apply, g
