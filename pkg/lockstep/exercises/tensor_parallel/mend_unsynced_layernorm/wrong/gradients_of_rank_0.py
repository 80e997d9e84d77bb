"""The learner thought: if all ranks take rank 0's, they stay alike."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

MISCONCEPTION = "gradients-of-rank-0"
TELL = "Ranks stay alike now, but learn from rank 0's positions only. Its gradient is one summand: add them all up."


class AllPositions(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, x.contiguous(), group=group)
        return torch.cat(parts, 1)

    @staticmethod
    def backward(ctx, dy):
        parts = [part.contiguous() for part in dy.chunk(dist.get_world_size(ctx.group), 1)]
        mine = torch.empty_like(parts[0])
        dist.reduce_scatter(mine, parts, group=ctx.group)
        return mine, None


class FromRank0(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, group):
        ctx.group = group
        return p.view_as(p)

    @staticmethod
    def backward(ctx, dp):
        first = dp.clone()
        dist.broadcast(first, group=ctx.group, group_src=0)
        return first, None


def mend_unsynced_layernorm(x, weight, bias, group=None):
    weight, bias = (FromRank0.apply(p, group) for p in (weight, bias))
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)
