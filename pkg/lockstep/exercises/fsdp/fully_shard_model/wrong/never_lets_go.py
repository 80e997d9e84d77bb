"""The learner thought: what is gathered is there for the backward pass too."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

MISCONCEPTION = "keeps-the-whole-model"
TELL = "You gather each layer once, and all of them stay until the backward pass has ended: that is the whole model and its gradients, as ZeRO 2 and DDP hold them. Let go of a layer after its forward pass and gather it again."


def gather(shard, N, group):
    flat = torch.empty(dist.get_world_size(group) * len(shard))
    dist.all_gather_into_tensor(flat, shard, group=group)
    return flat[:N]


def fully_shard_model(layers, shards, x, y, group=None):
    K = dist.get_world_size(group)
    flats = []
    for layer, shard in zip(layers, shards):
        flats.append(gather(shard, layer.numel, group).requires_grad_())
        x = layer(flats[-1], x)
    mse_loss(x, y).backward()
    means = []
    for flat, shard in zip(flats, shards):
        means.append(torch.empty_like(shard))
        padded = torch.nn.functional.pad(flat.grad, (0, K * len(shard) - len(flat)))
        dist.reduce_scatter_tensor(means[-1], padded, group=group)
    return [mean / K for mean in means]
