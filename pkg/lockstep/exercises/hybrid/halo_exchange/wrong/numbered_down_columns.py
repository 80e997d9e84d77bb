"""The learner thought: the blocks are numbered column by column."""

MISCONCEPTION = "wrong-values"
TELL = "You number the blocks down the columns. Rank r is in row r // Q and column r % Q."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    j, i = divmod(me, P)

    def swap(x, before, after):
        if before == me:
            return torch.cat([x[-width:], x, x[:width]])
        got = torch.empty(2, width, x.shape[1], dtype=x.dtype)
        works = [
            dist.isend(x[-width:].contiguous(), group=group, group_dst=after),
            dist.isend(x[:width].contiguous(), group=group, group_dst=before),
            dist.irecv(got[0], group=group, group_src=before),
            dist.irecv(got[1], group=group, group_src=after),
        ]
        for work in works:
            work.wait()
        return torch.cat([got[0], x, got[1]])

    tall = swap(block, (i - 1) % P + j * P, (i + 1) % P + j * P)
    return swap(tall.T, i + (j - 1) % Q * P, i + (j + 1) % Q * P).T
