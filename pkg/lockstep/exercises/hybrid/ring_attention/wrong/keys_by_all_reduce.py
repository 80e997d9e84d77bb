"""The learner thought: sum zeros and keys, and every rank has all keys."""

MISCONCEPTION = "library-call"
TELL = "An all-reduce brings all keys to every rank at once: that is the memory which the ring saves."

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
    gathered = kv.new_zeros(K, *kv.shape)
    gathered[r] = kv
    dist.all_reduce(gathered, group=group)
    for step in range(K):
        owner, works = (r - step) % K, []
        kv = gathered[owner]
        if owner == r:  # within a chunk and between them, earlier rows are earlier positions
            add(slice(None), *kv, torch.ones(n, n, dtype=torch.bool).triu(1))
        elif owner < r:
            add(slice(None), *kv[:, :, :c])
        else:
            add(slice(c, None), *kv)
    return out / weight
