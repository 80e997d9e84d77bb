"""The learner thought: torch has an all-reduce that autograd knows."""

import torch
import torch.distributed as dist
from torch.distributed.nn.functional import all_reduce

MISCONCEPTION = "g-both-ways"
TELL = (
    "g adds up in the backward pass, too. Each summand's gradient is that of the sum, which has already "
    "arrived: pass it on."
)


def regions(group=None):
    world = dist.group.WORLD if group is None else group

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(dy, group=group)
            return dy

    return F.apply, lambda x: all_reduce(x.contiguous(), group=world)
