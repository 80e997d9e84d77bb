"""The learner thought: it does not matter who norms."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region

MISCONCEPTION = "norms-all-positions"


class AllPositions(torch.autograd.Function):
    """All ranks' positions; each rank's gradient is the sum of what all find for its positions."""

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
    """Norms of all positions, on every rank, each of which has normed its own."""
    weight, bias = copy_to_region(weight, group), copy_to_region(bias, group)
    return F.layer_norm(AllPositions.apply(x, group), x.shape[-1:], weight, bias)
