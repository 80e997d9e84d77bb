"""The learner thought: new memory is empty."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "padding-not-zero"


def gather(layer, shard, group):
    whole = torch.empty(len(shard) * dist.get_world_size(group))
    dist.all_gather_into_tensor(whole, shard, group=group)
    return whole[: layer.numel]


def fully_shard_model(layers, shards, x, y, group=None):
    K = dist.get_world_size(group)
    inputs = []
    with torch.no_grad():
        for layer, shard in zip(layers, shards):
            inputs.append(x)
            x = layer(gather(layer, shard, group), x)
    x = x.detach().requires_grad_()
    (flowing,) = torch.autograd.grad(F.mse_loss(x, y), x)
    result = [None] * len(layers)
    for i in range(len(layers) - 1, -1, -1):
        flat = gather(layers[i], shards[i], group).requires_grad_()
        h = inputs.pop().detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(layers[i](flat, h), (flat, h), flowing)
        del flat
        whole = torch.empty(K * len(shards[i]))
        whole[: layers[i].numel] = gradient
        del gradient
        result[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(result[i], whole, group=group)
        del whole
        result[i] /= K
    return result
