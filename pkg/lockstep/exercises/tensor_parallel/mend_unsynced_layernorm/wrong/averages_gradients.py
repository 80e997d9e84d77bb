"""The learner thought: gradients of ranks are averaged."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

MISCONCEPTION = "mean-of-gradients"
TELL = "You average the gradients of weight and bias. Ranks have other positions of one batch: their gradients are summands, not estimates of one number. Add them up."


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


class Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, group):
        ctx.group = group
        return p.view_as(p)

    @staticmethod
    def backward(ctx, dp):
        total = dp.clone()
        dist.all_reduce(total, group=ctx.group)
        return total / dist.get_world_size(ctx.group), None


def mend_unsynced_layernorm(x, weight, bias, group=None):
    weight, bias = (Mean.apply(p, group) for p in (weight, bias))
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)
