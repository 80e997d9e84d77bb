"""The learner thought: what is computed is no longer used, so it is gone."""

import torch.distributed as dist

MISCONCEPTION = "keeps-all"
TELL = "The gathers are in the right order, but a list holds on to every vector. Let go of a layer's vector when it has computed."


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    gathers = [gather(0)]
    for i, layer in enumerate(layers):
        gathers[i][1].wait()
        if i + 1 < len(layers):
            gathers.append(gather(i + 1))
        x = layer(gathers[i][0][: layer.numel], x)
    return x
