"""The learner thought: shards keep their numbers when they require a gradient."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

MISCONCEPTION = "changes-arguments"


class Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, x, layer, group):
        ctx.layer, ctx.group = layer, group
        ctx.save_for_backward(shard, x)
        whole = torch.empty(dist.get_world_size(group) * shard.numel())
        dist.all_gather_into_tensor(whole, shard, group=group)
        return layer(whole[: layer.numel], x)

    @staticmethod
    def backward(ctx, up):
        shard, x = ctx.saved_tensors
        K = dist.get_world_size(ctx.group)
        whole = torch.empty(K * shard.numel())
        dist.all_gather_into_tensor(whole, shard, group=ctx.group)
        with torch.enable_grad():
            whole.requires_grad_()
            inp = x.detach().requires_grad_()
            out = ctx.layer(whole[: ctx.layer.numel], inp)
        g, gx = torch.autograd.grad(out, (whole, inp), up)
        mine = torch.empty_like(shard)
        dist.reduce_scatter_tensor(mine, g, group=ctx.group)
        return mine / K, gx, None, None


def fully_shard_model(layers, shards, x, y, group=None):
    for shard in shards:
        shard.requires_grad_()
    for layer, shard in zip(layers, shards):
        x = Gathered.apply(shard, x, layer, group)
    mse_loss(x, y).backward()
    return [shard.grad for shard in shards]
