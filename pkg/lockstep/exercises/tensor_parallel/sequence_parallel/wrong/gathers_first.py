"""The learner thought: it does not matter who norms."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region

MISCONCEPTION = "norms-all-positions"


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, x.contiguous(), group=group)
        return torch.cat(parts, 1)

    @staticmethod
    def backward(ctx, dy):
        parts = [part.contiguous() for part in dy.chunk(dist.get_world_size(ctx.group), 1)]
        mine = torch.empty_like(parts[0])
        dist.reduce_scatter(mine, parts, group=ctx.group)
        return mine, None


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        parts = [part.contiguous() for part in x.chunk(dist.get_world_size(group), 1)]
        mine = torch.empty_like(parts[0])
        dist.reduce_scatter(mine, parts, group=group)
        return mine

    @staticmethod
    def backward(ctx, dy):
        parts = [
            torch.empty_like(dy, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size(ctx.group))
        ]
        dist.all_gather(parts, dy.contiguous(), group=ctx.group)
        return torch.cat(parts, 1), None


def sequence_parallel(x, weight, bias, A, a, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    weight, bias, b = (copy_to_region(t, group) for t in (weight, bias, b))
    every = F.layer_norm(Gather.apply(x, group), x.shape[-1:], weight, bias)
    inside = F.gelu(every @ A.tensor_split(K, 1)[r] + a.tensor_split(K)[r])
    return x + Scatter.apply(inside @ B.tensor_split(K)[r], group) + b
