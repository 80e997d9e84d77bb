"""Norm, gather and all sums in one autograd.Function."""

import torch
import torch.distributed as dist


class NormedPositions(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, group):
        ctx.group = group
        deviation = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        normed = (x - x.mean(-1, keepdim=True)) / deviation
        ctx.save_for_backward(normed, deviation, weight)
        K = dist.get_world_size(group)
        rows = x.new_empty(K * x.shape[1], x.shape[0], x.shape[2])
        dist.all_gather_into_tensor(rows, (normed * weight + bias).transpose(0, 1).contiguous(), group=group)
        return rows.transpose(0, 1).contiguous()

    @staticmethod
    def backward(ctx, dy):
        normed, deviation, weight = ctx.saved_tensors
        rows = dy.transpose(0, 1).contiguous()
        mine = rows.new_empty(normed.shape[1], normed.shape[0], normed.shape[2])
        dist.reduce_scatter_tensor(mine, rows, group=ctx.group)
        mine = mine.transpose(0, 1)
        sums = torch.stack([(mine * normed).sum((0, 1)), mine.sum((0, 1))])
        dist.all_reduce(sums, group=ctx.group)
        d = mine * weight
        dx = (d - d.mean(-1, keepdim=True) - normed * (d * normed).mean(-1, keepdim=True)) / deviation
        return dx, sums[0], sums[1], None


def mend_unsynced_layernorm(x, weight, bias, group=None):
    return NormedPositions.apply(x, weight, bias, group)
