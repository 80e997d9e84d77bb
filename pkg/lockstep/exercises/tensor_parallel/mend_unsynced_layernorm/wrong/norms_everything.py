"""The learner thought: norm what was gathered, and every rank has all positions."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

MISCONCEPTION = "norms-all-positions"
TELL = "Each rank norms all positions now. What follows uses them in another way on each rank, so its gradients of weight and bias are summands all the same."


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


def mend_unsynced_layernorm(x, weight, bias, group=None):
    return F.layer_norm(AllPositions.apply(x, group), x.shape[-1:], weight, bias)
