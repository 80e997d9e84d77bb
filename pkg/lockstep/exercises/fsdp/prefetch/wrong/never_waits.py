"""The learner thought: by the time the layer has computed, the next one is there."""

import torch.distributed as dist

MISCONCEPTION = "never-waited"


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    whole, work = gather(0)
    work.wait()
    for i, layer in enumerate(layers):
        flat = whole[: layer.numel]
        if i + 1 < len(layers):
            whole, work = gather(i + 1)
        x = layer(flat, x)
        del flat
    return x
