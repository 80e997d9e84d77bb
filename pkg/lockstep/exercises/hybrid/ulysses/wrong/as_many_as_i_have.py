"""The learner thought: all ranks have as many positions as I have."""

MISCONCEPTION = "crashed:Mismatch"

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape
    a, b = H // K, len(k) // K
    send = [torch.cat([x.chunk(K)[s] for x in (q, k, v)]) for s in range(K)]
    recv = [torch.empty_like(s) for s in send]
    dist.all_to_all(recv, send, group=group)
    x = torch.cat(recv, 1)
    y = attend(x[:a], x[a : a + b], x[a + b :])
    send = [p.contiguous() for p in y.chunk(K, 1)]
    recv = [torch.empty(a, t, d, dtype=q.dtype) for _ in range(K)]
    dist.all_to_all(recv, send, group=group)
    return torch.cat(recv)
