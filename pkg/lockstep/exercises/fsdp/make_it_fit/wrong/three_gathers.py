"""The learner thought: what is recomputed is gathered for itself."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard, shard_of

MISCONCEPTION = "too-many-bytes"


def inputs_of(layer, shard, h, group):
    with torch.no_grad():
        layer(gathered(shard, layer.numel, group), h)
    return h


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shards = [shard_of(layer.start(), r, K) for layer in layers]
    adam = optimizer(shards)
    for x, y in batches:
        inputs = []
        with torch.no_grad():
            for layer, shard in zip(layers, shards):
                inputs.append(x)
                x = layer(gathered(shard, layer.numel, group), x)
        x.requires_grad_()
        (delta,) = torch.autograd.grad(mse_loss(x, y), x)
        for layer, shard in zip(layers[::-1], shards[::-1]):
            flat, h = gathered(shard, layer.numel, group).requires_grad_(), inputs.pop().detach().requires_grad_()
            h = inputs_of(layer, shard, h, group)
            gradient, delta = torch.autograd.grad(layer(flat, h), (flat, h), delta)
            shard.grad = reduced_shard(gradient, group)
        adam.step()
        adam.zero_grad()
    return shards
