"""The learner thought: what is left of ZeRO 3 is small."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard, shard_of

MISCONCEPTION = "level-5"


class Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, N, group):
        flat = gathered(shard, N, group)
        ctx.group, ctx.storage = group, flat.untyped_storage()
        return flat

    @staticmethod
    def backward(ctx, gradient):
        shard = reduced_shard(gradient, ctx.group)
        ctx.storage.resize_(0)
        return shard, None, None


def refill(flat, shard, group):
    storage = flat.untyped_storage()
    storage.resize_(4 * len(shard) * dist.get_world_size(group))
    dist.all_gather_into_tensor(shard.new_empty(0).set_(storage), shard, group=group)


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shards = [shard_of(layer.start(), r, K).requires_grad_() for layer in layers]
    adam = optimizer(shards)
    for x, y in batches:
        for layer, shard in zip(layers, shards):
            flat = Whole.apply(shard, layer.numel, group)
            x = layer(flat, x)
            flat.untyped_storage().resize_(0)
            x.register_hook(lambda _, flat=flat.data, shard=shard.detach(): refill(flat, shard, group))
            del flat
        mse_loss(x, y).backward()
        del x
        adam.step()
        adam.zero_grad()
    return [shard.detach() for shard in shards]
