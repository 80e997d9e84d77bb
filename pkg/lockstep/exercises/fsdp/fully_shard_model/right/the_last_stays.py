"""Layer by layer by hand; the last layer's vector stays between its forward and its backward."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss


def fully_shard_model(layers, shards, x, y, group=None):
    K = dist.get_world_size(group)
    inputs, out = [], []
    for i, layer in enumerate(layers):
        flat = shards[i].new_empty(K * shards[i].numel())
        dist.all_gather_into_tensor(flat, shards[i], group=group)
        inputs.append(x.clone())
        with torch.no_grad():
            x = layer(flat[: layer.numel], x)
    delta = None
    for i in reversed(range(len(layers))):
        if i < len(layers) - 1:
            flat = shards[i].new_empty(K * shards[i].numel())
            dist.all_gather_into_tensor(flat, shards[i], group=group)
        flat.requires_grad_(True)
        h = inputs[i].requires_grad_(True)
        result = layers[i](flat[: layers[i].numel], h)
        if delta is None:
            mse_loss(result, y).backward()
        else:
            result.backward(delta)
        delta = h.grad
        mean = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(mean, flat.grad, group=group)
        out.insert(0, mean / K)
    return out
