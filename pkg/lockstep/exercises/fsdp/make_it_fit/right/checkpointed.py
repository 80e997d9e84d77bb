"""Torch's own checkpointing, around the gathering and the layer."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss
from torch.utils.checkpoint import checkpoint

from lockstep.sharded.flat import gathered, reduced_shard, shard_of


class Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, N, group):
        ctx.group = group
        return gathered(shard, N, group)

    @staticmethod
    def backward(ctx, gradient):
        return reduced_shard(gradient, ctx.group), None, None


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shards = [torch.nn.Parameter(shard_of(layer.start(), r, K)) for layer in layers]
    adam = optimizer(shards)

    def compute(layer, shard, x):
        return layer(Whole.apply(shard, layer.numel, group), x)

    for x, y in batches:
        for layer, shard in zip(layers, shards):
            x = checkpoint(compute, layer, shard, x, use_reentrant=False)
        mse_loss(x, y).backward()
        del x
        adam.step()
        adam.zero_grad(set_to_none=True)
    return [shard.data for shard in shards]
