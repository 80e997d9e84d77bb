"""The learner thought: the earlier a gather starts, the better it hides."""

import torch.distributed as dist

MISCONCEPTION = "all-at-once"
TELL = "All layers are gathered at the beginning: then the whole model is on every rank. Have one gather under way."


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    gathers = [gather(i) for i in range(len(layers))]
    for layer, (whole, work) in zip(layers, gathers):
        work.wait()
        x = layer(whole[: layer.numel], x)
    return x
