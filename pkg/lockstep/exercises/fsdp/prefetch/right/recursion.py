"""Recursion: each call has the gather of its own layer under way."""

import torch.distributed as dist


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    def rest(i, whole, work, x):
        work.wait()
        following = gather(i + 1) if i + 1 < len(layers) else None
        x = layers[i](whole[: layers[i].numel], x)
        return x, following

    following = gather(0)
    for i in range(len(layers)):
        x, following = rest(i, *following, x)
    return x
