"""The learner thought: two layers ahead is safer than one."""

import torch.distributed as dist

MISCONCEPTION = "two-ahead"
TELL = "Two gathers are under way while a layer computes: three layers are whole. One ahead is enough."


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    gathers = [gather(i) for i in range(min(2, len(layers)))]
    for i, layer in enumerate(layers):
        if i + 2 < len(layers):
            gathers.append(gather(i + 2))
        whole, work = gathers.pop(0)
        work.wait()
        x = layer(whole[: layer.numel], x)
        del whole, work
    return x
