"""The learner thought: the backend gathers ahead by itself."""

import torch.distributed as dist

MISCONCEPTION = "starts-too-late"


def prefetch(layers, shards, x, group=None):
    for layer, shard in zip(layers, shards):
        whole = shard.new_empty(dist.get_world_size(group) * len(shard))
        dist.all_gather_into_tensor(whole, shard, group=group)
        x = layer(whole[: layer.numel], x)
    return x
