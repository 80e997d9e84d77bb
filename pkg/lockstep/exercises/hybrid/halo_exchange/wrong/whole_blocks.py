"""The learner thought: I send what I have, and the neighbour takes the edge."""

MISCONCEPTION = "too-many-bytes"
TELL = "You send all rows. The neighbour needs `width` of them."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    i, j = divmod(me, Q)

    def swap(x, before, after):
        if before == me:
            return torch.cat([x[-width:], x, x[:width]])
        sizes = torch.empty(2, dtype=torch.int64)
        own = torch.tensor([len(x)])
        trade(own, own, sizes[:1], sizes[1:], before, after)
        got = [torch.empty(int(n), x.shape[1], dtype=x.dtype) for n in sizes]
        trade(x.contiguous(), x.contiguous(), *got, before, after)
        return torch.cat([got[0][-width:], x, got[1][:width]])

    def trade(last, first, in_front, behind, before, after):
        works = [
            dist.isend(last, group=group, group_dst=after),
            dist.isend(first, group=group, group_dst=before),
            dist.irecv(in_front, group=group, group_src=before),
            dist.irecv(behind, group=group, group_src=after),
        ]
        for work in works:
            work.wait()

    tall = swap(block, (i - 1) % P * Q + j, (i + 1) % P * Q + j)
    return swap(tall.T, i * Q + (j - 1) % Q, i * Q + (j + 1) % Q).T
