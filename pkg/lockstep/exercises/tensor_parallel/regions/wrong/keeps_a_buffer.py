"""The learner thought: a buffer saves a copy."""

import torch
import torch.distributed as dist

MISCONCEPTION = "buffer-returned"
TELL = "g returns its buffer, and the next call of g writes into it. Whoever has the first sum needs it still: return a tensor that is new."


def regions(group=None):
    buffers = {}

    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            total = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = buffers.setdefault(tuple(x.shape), torch.empty(x.shape, dtype=x.dtype))
            total.copy_(x)
            dist.all_reduce(total, group=group)
            return total

        @staticmethod
        def backward(ctx, dy):
            return dy.clone()

    return Copy.apply, Sum.apply
