"""Positions first, so that parts lie side by side."""

import torch
import torch.distributed as dist
from torch.nn import functional as F


def gathered(x, group):
    rows = x.new_empty(dist.get_world_size(group) * x.shape[1], x.shape[0], x.shape[2])
    dist.all_gather_into_tensor(rows, x.transpose(0, 1).contiguous(), group=group)
    return rows.transpose(0, 1)


def scattered(x, group):
    mine = x.new_empty(x.shape[1] // dist.get_world_size(group), x.shape[0], x.shape[2])
    dist.reduce_scatter_tensor(mine, x.transpose(0, 1).contiguous(), group=group)
    return mine.transpose(0, 1)


class Moved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, forth, back, group):
        ctx.back, ctx.group = back, group
        return forth(x, group)

    @staticmethod
    def backward(ctx, dy):
        return ctx.back(dy, ctx.group), None, None, None


def same(x, group):
    return x.clone()


def total(x, group):
    x = x.clone()
    dist.all_reduce(x, group=group)
    return x


def sequence_parallel(x, weight, bias, A, a, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    weight, bias, b = (Moved.apply(p, same, total, group) for p in (weight, bias, b))
    mine = torch.arange(len(B)).tensor_split(K)[r]
    normed = F.layer_norm(x, (x.shape[2],), weight, bias)
    inside = F.gelu(Moved.apply(normed, gathered, scattered, group) @ A[:, mine] + a[mine]) @ B[mine]
    return x + b + Moved.apply(inside, scattered, gathered, group)
