"""The learner thought: the whole vector is the layer's vector."""

import torch.distributed as dist

MISCONCEPTION = "crashed:RankRaised"


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    whole, work = gather(0)
    for i, layer in enumerate(layers):
        work.wait()
        flat = whole
        if i + 1 < len(layers):
            whole, work = gather(i + 1)
        x = layer(flat, x)
        del flat
    return x
