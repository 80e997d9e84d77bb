"""The learner thought: deal the heads out like cards."""

MISCONCEPTION = "wrong-values"
TELL = "You deal the heads out one by one. Then heads of queries are no longer with the keys and values that they attend to: head i belongs to head i // (H/G). Cut the heads in K stretches."

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape
    a, b = H // K, len(k) // K
    send = [torch.cat([x[s::K] for x in (q, k, v)]).contiguous() for s in range(K)]
    recv = [torch.empty(a + 2 * b, n, d, dtype=q.dtype) for n in lengths]
    dist.all_to_all(recv, send, group=group)
    x = torch.cat(recv, 1)
    y = attend(x[:a], x[a : a + b], x[a + b :])
    send = [p.contiguous() for p in y.split(lengths, 1)]
    recv = [torch.empty(a, t, d, dtype=q.dtype) for _ in range(K)]
    dist.all_to_all(recv, send, group=group)
    out = torch.empty_like(q)
    for s in range(K):
        out[s::K] = recv[s]
    return out
