"""The learner thought: clone makes a copy that is contiguous."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Mismatch"
TELL = "clone() keeps the order in memory. all_reduce adds up in that order: where one rank's tensor is transposed, others' elements are added. Make the copy contiguous, by clone(memory_format=torch.contiguous_format)."


def regions(group=None):
    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            total = dy.clone()
            dist.all_reduce(total, group=group)
            return total

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = x.clone()
            dist.all_reduce(total, group=group)
            return total

        @staticmethod
        def backward(ctx, dy):
            return dy.clone()

    return Copy.apply, Sum.apply
