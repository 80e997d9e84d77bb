"""The learner thought: new memory is empty."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "padding-not-zero"


def gather(layer, shard, group):
    whole = torch.empty(len(shard) * dist.get_world_size(group))
    dist.all_gather_into_tensor(whole, shard, group=group)
    return whole[: layer.numel]


def pass_of(layers, shards, x, y, group):
    K = dist.get_world_size(group)
    inputs = []
    with torch.no_grad():
        for layer, shard in zip(layers, shards):
            inputs.append(x)
            x = layer(gather(layer, shard, group), x)
    x = x.detach().requires_grad_()
    (flowing,) = torch.autograd.grad(F.mse_loss(x, y), x)
    del x
    for i in range(len(layers) - 1, -1, -1):
        flat = gather(layers[i], shards[i], group).requires_grad_()
        h = inputs.pop().detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(layers[i](flat, h), (flat, h), flowing)
        del flat, h
        whole = torch.empty(K * len(shards[i]))
        whole[: layers[i].numel] = gradient
        del gradient
        shards[i].grad = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(shards[i].grad, whole, group=group)
        del whole
        shards[i].grad /= K


def make_it_fit(layers, optimizer, batches, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    shards = []
    for layer in layers:
        n = math.ceil(layer.numel / K)
        part = layer.start()[r * n : (r + 1) * n]
        shard = torch.zeros(n)
        shard[: len(part)] = part
        del part
        shards.append(shard)
    steps = optimizer(shards)
    for x, y in batches:
        pass_of(layers, shards, x, y, group)
        steps.step()
        for shard in shards:
            shard.grad = None
    return shards
