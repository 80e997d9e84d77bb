"""The learner thought: one buffer as large as the largest layer is enough, since one layer computes at a time."""

import torch.distributed as dist

MISCONCEPTION = "reads-before-wait"
TELL = (
    "The next layer is gathered into the buffer from which this one computes. Use two, in turn, or a new one each time."
)


def prefetch(layers, shards, x, group=None):
    K = dist.get_world_size(group)
    buffer = x.new_empty(K * max(len(shard) for shard in shards))

    def gather(i):
        return dist.all_gather_into_tensor(buffer[: K * len(shards[i])], shards[i], group=group, async_op=True)

    work = gather(0)
    for i, layer in enumerate(layers):
        work.wait()
        flat = buffer[: layer.numel]
        if i + 1 < len(layers):
            work = gather(i + 1)
        x = layer(flat, x)
    return x
