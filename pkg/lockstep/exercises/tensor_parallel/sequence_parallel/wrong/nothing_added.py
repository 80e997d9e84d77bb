"""The learner thought: what comes back is what is needed."""

import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "nothing-synced"
TELL = "The gradients of weight, bias and b are those of each rank's own positions: summands. f around each of the three adds them up."


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return gathered(x, group)

    @staticmethod
    def backward(ctx, dy):
        return scattered(dy, ctx.group), None


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return scattered(x, group)

    @staticmethod
    def backward(ctx, dy):
        return gathered(dy, ctx.group), None


def gathered(x, group):
    parts = [x.new_empty(x.shape) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, x.contiguous(), group=group)
    return torch.cat(parts, 1)


def scattered(x, group):
    parts = [part.contiguous() for part in x.chunk(dist.get_world_size(group), 1)]
    mine = torch.empty_like(parts[0])
    dist.reduce_scatter(mine, parts, group=group)
    return mine


def sequence_parallel(x, weight, bias, A, a, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    A, a, B = A.tensor_split(K, 1)[r], a.tensor_split(K)[r], B.tensor_split(K)[r]
    whole = Gather.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)
    return x + Scatter.apply(F.gelu(whole @ A + a) @ B, group) + b
