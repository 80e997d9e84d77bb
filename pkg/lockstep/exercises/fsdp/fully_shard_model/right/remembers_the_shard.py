"""Autograd saves which layer it needs instead of the vector, and gathers when it asks for it."""

import torch
import torch.distributed as dist


class Whole(torch.autograd.Function):
    """The gradient of what is gathered is reduce-scattered."""

    @staticmethod
    def forward(ctx, shard, gather, group):
        ctx.n, ctx.group = len(shard), group
        return gather()

    @staticmethod
    def backward(ctx, gradient):
        K = dist.get_world_size(ctx.group)
        mean = gradient.new_empty(ctx.n)
        padded = torch.cat([gradient / K, gradient.new_zeros(K * ctx.n - len(gradient))])
        dist.reduce_scatter_tensor(mean, padded, group=ctx.group)
        return mean, None, None


def fully_shard_model(layers, shards, x, y, group=None):
    whole = {}  # at most one, by layer

    def gather(i):
        if i not in whole:
            whole.clear()
            out = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
            dist.all_gather_into_tensor(out, shards[i], group=group)
            whole[i] = out[: layers[i].numel]
        return whole[i]

    def pack(tensor):
        ((i, flat),) = whole.items()
        if tensor.untyped_storage().data_ptr() != flat.untyped_storage().data_ptr():
            return tensor
        return i, tensor.shape, tensor.stride(), tensor.storage_offset()

    def unpack(packed):
        if isinstance(packed, torch.Tensor):
            return packed
        i, *where = packed
        return gather(i).as_strided(*where)

    own = [shard.detach().requires_grad_() for shard in shards]
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        for i, layer in enumerate(layers):
            x = layer(Whole.apply(own[i], lambda: gather(i), group), x)
        torch.nn.functional.mse_loss(x, y).backward()
    return [shard.grad for shard in own]
