"""The learner thought: what comes from above belongs below."""

MISCONCEPTION = "wrong-values"
TELL = "The rims are exchanged: what comes from above belongs above, and what comes from the left belongs to the left."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    i, j = divmod(me, Q)

    def swap(x, before, after):
        if before == me:
            return torch.cat([x[:width], x, x[-width:]])
        got = torch.empty(2, width, x.shape[1], dtype=x.dtype)
        works = [
            dist.isend(x[-width:].contiguous(), group=group, group_dst=after),
            dist.isend(x[:width].contiguous(), group=group, group_dst=before),
            dist.irecv(got[0], group=group, group_src=before),
            dist.irecv(got[1], group=group, group_src=after),
        ]
        for work in works:
            work.wait()
        return torch.cat([got[1], x, got[0]])

    tall = swap(block, (i - 1) % P * Q + j, (i + 1) % P * Q + j)
    return swap(tall.T, i * Q + (j - 1) % Q, i * Q + (j + 1) % Q).T
