"""Each rank sends its own to all others in turn, and computes pair by pair."""

NCCL = "Each rank posts its send before its receive: they need a batch."

import math

import torch
import torch.distributed as dist


def ring_attention(q, k, v, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    c, d = q.shape[1] // 2, q.shape[2]
    most = torch.full_like(q[..., :1], -math.inf)
    weight, out = torch.zeros_like(most), torch.zeros_like(q)

    def add(rows, keys, values, diagonal):
        scores = q[:, rows] @ keys.mT / math.sqrt(d)
        if diagonal:
            scores = scores + torch.full((c, c), -math.inf, dtype=q.dtype, device=q.device).triu(1)
        higher = torch.maximum(most[:, rows], scores.amax(-1, keepdim=True))
        old, new = (most[:, rows] - higher).exp(), (scores - higher).exp()
        weight[:, rows] = old * weight[:, rows] + new.sum(-1, keepdim=True)
        out[:, rows] = old * out[:, rows] + new @ values
        most[:, rows] = higher

    own = torch.stack([k, v])
    there = own
    for step in range(K):
        works, owner = [], (r - step) % K
        if step < K - 1:
            coming = torch.empty_like(own)
            works = [
                dist.isend(own, group=group, group_dst=(r + step + 1) % K),
                dist.irecv(coming, group=group, group_src=(r - step - 1) % K),
            ]
        for i, queries in enumerate((r, 2 * K - 1 - r)):
            for j, keys in enumerate((owner, 2 * K - 1 - owner)):
                if keys <= queries:
                    part = there[:, :, j * c : (j + 1) * c]
                    add(slice(i * c, (i + 1) * c), *part, keys == queries)
        for work in works:
            work.wait()
        there = coming if works else there
    return out / weight
