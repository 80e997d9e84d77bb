"""The learner thought: the neighbour's number is its rank."""

MISCONCEPTION = "ignores-group"
ALSO = ["crashed:RankRaised"]

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    i, j = divmod(me, Q)

    def swap(x, before, after):
        if before == me:
            return torch.cat([x[-width:], x, x[:width]])
        got = torch.empty(2, width, x.shape[1], dtype=x.dtype)
        works = [
            dist.isend(x[-width:].contiguous(), group=group, dst=after),
            dist.isend(x[:width].contiguous(), group=group, dst=before),
            dist.irecv(got[0], group=group, src=before),
            dist.irecv(got[1], group=group, src=after),
        ]
        for work in works:
            work.wait()
        return torch.cat([got[0], x, got[1]])

    tall = swap(block, (i - 1) % P * Q + j, (i + 1) % P * Q + j)
    return swap(tall.T, i * Q + (j - 1) % Q, i * Q + (j + 1) % Q).T
