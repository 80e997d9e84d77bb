"""The learner thought: what comes back is a stretch of positions from each rank."""

MISCONCEPTION = "wrong-values"
TELL = "The heads come back in another order than they left in: rank s has the s-th stretch of H/K heads. Put the stretches one behind the other."

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    K = dist.get_world_size(group)
    H, t, d = q.shape
    G = k.shape[0]
    a, b = H // K, G // K
    send = [
        torch.cat([q[s * a : (s + 1) * a], k[s * b : (s + 1) * b], v[s * b : (s + 1) * b]]).contiguous()
        for s in range(K)
    ]
    recv = [torch.empty(a + 2 * b, n, d, dtype=q.dtype) for n in lengths]
    dist.all_to_all(recv, send, group=group)
    x = torch.cat(recv, 1)
    y = attend(x[:a], x[a : a + b], x[a + b :])
    send = [p.contiguous() for p in y.split(lengths, 1)]
    recv = [torch.empty(a, t, d, dtype=q.dtype) for _ in range(K)]
    dist.all_to_all(recv, send, group=group)
    return torch.stack(recv, 1).flatten(0, 1)
