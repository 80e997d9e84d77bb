"""The learner thought: ranks have the same weights if they are averaged."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "sends-weights-forward"
TELL = "You average weights in the forward pass. They are alike already; their gradients differ, and these are to be added up."


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
    K = dist.get_world_size(group)
    weight, bias = (reduce_from_region(p / K, group) for p in (weight, bias))
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)
