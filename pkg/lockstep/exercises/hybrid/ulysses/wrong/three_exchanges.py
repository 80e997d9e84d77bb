"""The learner thought: three tensors, three exchanges."""

MISCONCEPTION = "too-many-collectives"

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape

    def swap(x):
        send = [c.contiguous() for c in x.chunk(K)]
        recv = [x.new_empty(len(x) // K, n, d) for n in lengths]
        dist.all_to_all(recv, send, group=group)
        return torch.cat(recv, 1)

    y = attend(swap(q), swap(k), swap(v))
    send = [p.contiguous() for p in y.split(lengths, 1)]
    recv = [torch.empty(H // K, t, d, dtype=q.dtype) for _ in range(K)]
    dist.all_to_all(recv, send, group=group)
    return torch.cat(recv)
