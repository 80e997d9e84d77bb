"""The learner thought: gradients of all ranks are averaged."""

import torch
import torch.distributed as dist

MISCONCEPTION = "averages"
TELL = (
    "f averages the gradients. That is right for copies of a model that see different examples. Here each"
    " rank has found a summand of one gradient: add them up."
)


def regions(group=None):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, dy):
            dy = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(dy, group=group)
            return dy / dist.get_world_size(group)

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
