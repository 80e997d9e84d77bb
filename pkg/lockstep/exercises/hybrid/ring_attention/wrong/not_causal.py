"""The learner thought: every position attends to all."""

MISCONCEPTION = "not-causal"
TELL = "Every position attends to all of them. A position attends to itself and to earlier ones only."

import math

import torch
import torch.distributed as dist


def ring_attention(q, k, v, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    H, n, d = q.shape
    c = n // 2
    most = q.new_full((H, n, 1), -math.inf)
    weight, out = q.new_zeros(H, n, 1), torch.zeros_like(q)

    def add(rows, keys, values, mask=None):
        scores = q[:, rows] @ keys.mT / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        higher = torch.maximum(most[:, rows], scores.amax(-1, keepdim=True))
        old, new = (most[:, rows] - higher).exp(), (scores - higher).exp()
        weight[:, rows] = old * weight[:, rows] + new.sum(-1, keepdim=True)
        out[:, rows] = old * out[:, rows] + new @ values
        most[:, rows] = higher

    kv = torch.stack([k, v])
    for step in range(K):
        owner, works = (r - step) % K, []
        if step < K - 1:
            coming = torch.empty_like(kv)
            sending = dist.P2POp(dist.isend, kv, group=group, group_peer=(r + 1) % K)
            receiving = dist.P2POp(dist.irecv, coming, group=group, group_peer=(r - 1) % K)
            works = dist.batch_isend_irecv([sending, receiving])
        add(slice(None), *kv)
        for work in works:
            work.wait()
        kv = coming if works else kv
    return out / weight
