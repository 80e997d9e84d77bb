"""The learner forgot to pass the group on."""

import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size() * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], async_op=True)

    whole, work = gather(0)
    for i, layer in enumerate(layers):
        work.wait()
        flat = whole[: layer.numel]
        if i + 1 < len(layers):
            whole, work = gather(i + 1)
        x = layer(flat, x)
        del flat
    return x
