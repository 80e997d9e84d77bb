"""The learner thought: the model is gathered, then trained as ever."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

MISCONCEPTION = "gathers-the-whole-model"
TELL = "You gather all layers in one piece before the first is computed. So does FSDP without a wrapping policy: one unit, the whole model in memory. Gather each layer by itself, just before it is needed."


def fully_shard_model(layers, shards, x, y, group=None):
    K = dist.get_world_size(group)
    ours, sizes = torch.cat(shards), [len(s) for s in shards]
    everyone = [torch.empty_like(ours) for _ in range(K)]
    dist.all_gather(everyone, ours, group=group)
    columns = zip(*(part.split(sizes) for part in everyone))
    flats = [torch.cat(c)[: layer.numel].requires_grad_() for c, layer in zip(columns, layers)]
    for layer, flat in zip(layers, flats):
        x = layer(flat, x)
    mse_loss(x, y).backward()
    rows = [torch.nn.functional.pad(f.grad, (0, K * n - len(f))).view(K, n) for f, n in zip(flats, sizes)]
    mean = torch.empty_like(ours)
    dist.reduce_scatter_tensor(mean, torch.cat(rows, dim=1).flatten(), group=group)
    return list((mean / K).split(sizes))
