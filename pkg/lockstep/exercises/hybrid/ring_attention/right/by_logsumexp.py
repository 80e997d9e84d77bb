"""The other way round, k and v apart, merged by the logarithm of the sum."""

NCCL = "Each rank posts its sends before its receives, one by one: they need a batch."

import math

import torch
import torch.distributed as dist


def ring_attention(q, k, v, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    n, d = q.shape[1:]
    c = n // 2
    before, after = (r - 1) % K, (r + 1) % K
    mask = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
    parts, logs = [], []
    for step in range(K):
        works, owner = [], (r + step) % K
        if step < K - 1:  # the other way round
            next_k, next_v = torch.empty_like(k), torch.empty_like(v)
            works = [dist.isend(t, group=group, group_dst=before) for t in (k, v)]
            works += [dist.irecv(t, group=group, group_src=after) for t in (next_k, next_v)]
        scores = q @ k[:, : c if owner < r else n].mT / math.sqrt(d) if owner <= r else q[:, c:] @ k.mT / math.sqrt(d)
        if owner == r:
            scores = scores.masked_fill(mask, -math.inf)
        log = scores.logsumexp(-1, keepdim=True)
        made = (scores - log).exp() @ v[:, : scores.shape[-1]]
        if owner > r:
            made = torch.cat([torch.zeros_like(made[:, :1]).expand(-1, c, -1), made], 1)
            log = torch.cat([torch.full_like(log[:, :1], -math.inf).expand(-1, c, -1), log], 1)
        if parts:
            both = torch.logaddexp(logs[0], log)
            parts[0] = (logs[0] - both).exp() * parts[0] + (log - both).exp() * made
            logs[0] = both
        else:
            parts, logs = [made], [log]
        for work in works:
            work.wait()
        if works:
            k, v = next_k, next_v
    return parts[0]
