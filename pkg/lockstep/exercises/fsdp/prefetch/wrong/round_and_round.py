"""The learner thought: after the last layer comes the first again."""

import torch.distributed as dist

MISCONCEPTION = "one-too-many"
TELL = "While the last layer computes, the first one is gathered once more, for nobody. There is nothing left to fetch."


def prefetch(layers, shards, x, group=None):
    def gather(i):
        whole = shards[i].new_empty(dist.get_world_size(group) * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    whole, work = gather(0)
    for i, layer in enumerate(layers):
        work.wait()
        flat = whole[: layer.numel]
        whole, work = gather((i + 1) % len(layers))
        x = layer(flat, x)
        del flat
    work.wait()
    return x
