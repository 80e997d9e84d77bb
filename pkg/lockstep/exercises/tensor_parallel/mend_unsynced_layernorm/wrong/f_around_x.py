"""The learner thought: x is what ranks share."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "f-around-x"
TELL = "f is around x: but each rank has positions of its own, and their gradient is whole when it arrives. weight and bias are alike on all ranks, and need f."


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
    x = copy_to_region(x, group)
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)
