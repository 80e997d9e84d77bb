"""The learner thought: I collect all tensors and add them up."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-bytes-g-forward"
TELL = "You gather all ranks' tensors, K of them, and add them up on every rank. An all-reduce adds up on the way."


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
            x = x.contiguous()
            parts = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
            dist.all_gather(parts, x, group=group)
            return torch.stack(parts).sum(0)

        @staticmethod
        def backward(ctx, dy):
            return dy

    return F.apply, G.apply
