"""The learner thought: rank 0 adds them up."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

MISCONCEPTION = "only-on-rank-0"
TELL = "The sum reaches rank 0 alone. Every rank changes its own weights by the gradient that it has, so each needs the whole one."


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


class OnRank0(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, group):
        ctx.group = group
        return p.view_as(p)

    @staticmethod
    def backward(ctx, dp):
        total = dp.clone()
        dist.reduce(total, group=ctx.group, group_dst=0)
        return total if dist.get_rank(ctx.group) == 0 else dp, None


def mend_unsynced_layernorm(x, weight, bias, group=None):
    weight, bias = (OnRank0.apply(p, group) for p in (weight, bias))
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)
