"""The learner thought: a layer's output is needed once for its input's gradient, and once for its parameters' one."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

MISCONCEPTION = "too-many-flops"
TELL = "In the backward pass you compute each layer twice. One call of torch.autograd.grad gives both gradients."


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    lengths = [-(-layer.numel // K) for layer in layers]
    device = batches[0][0].device
    own, at = torch.empty(sum(lengths), device=device), 0
    for layer, n in zip(layers, lengths):
        start = torch.cat([layer.start(), torch.zeros(K * n - layer.numel, device=device)])
        own[at : at + n] = start[r * n : (r + 1) * n]
        at += n
    del start
    own.grad = torch.empty_like(own)
    shards, gradients = own.split(lengths), own.grad.split(lengths)
    adam = optimizer([own])
    whole = torch.empty(K * max(lengths), device=device)

    def gather(i):
        part = whole[: K * lengths[i]]
        dist.all_gather_into_tensor(part, shards[i], group=group)
        return part

    for x, y in batches:
        inputs = [x]
        with torch.no_grad():
            for i, layer in enumerate(layers):
                inputs.append(layer(gather(i)[: layer.numel], inputs[-1]))
        out = inputs.pop().requires_grad_()
        (delta,) = torch.autograd.grad(mse_loss(out, y), out)
        for i in reversed(range(len(layers))):
            flat, h = gather(i).detach().requires_grad_(), inputs.pop().detach().requires_grad_()
            (gradient,) = torch.autograd.grad(layers[i](flat[: layers[i].numel], h), flat, delta)
            (delta,) = torch.autograd.grad(layers[i](flat[: layers[i].numel], h), h, delta)
            dist.reduce_scatter_tensor(gradients[i], gradient.div_(K), group=group)
            del flat, h, gradient
        adam.step()
    return [shard.clone() for shard in shards]
