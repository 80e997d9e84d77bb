"""Two buffers in turn, each as large as the largest layer."""

import torch.distributed as dist


def prefetch(layers, shards, x, group=None):
    K = dist.get_world_size(group)
    buffers = [x.new_empty(K * max(len(shard) for shard in shards)) for _ in range(2)]

    def gather(i):
        whole = buffers[i % 2][: K * len(shards[i])]
        return dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    work = gather(0)
    for i, layer in enumerate(layers):
        work.wait()
        work = gather(i + 1) if i + 1 < len(layers) else None
        x = layer(buffers[i % 2][: layer.numel], x)
    return x
