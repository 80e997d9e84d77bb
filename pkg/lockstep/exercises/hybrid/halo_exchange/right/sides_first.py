"""The sides first, then rows with the corners."""

NCCL = "Each rank posts its sends before its receives, one by one: they need a batch."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    i, j = divmod(me, Q)

    def swap(x, before, after):
        """along dim 0"""
        if before == me:
            return torch.cat([x[-width:], x, x[:width]])
        got = x.new_empty(2, width, x.shape[1])
        send1 = dist.isend(x[-width:].contiguous(), group=group, group_dst=after)
        send2 = dist.isend(x[:width].contiguous(), group=group, group_dst=before)
        r1 = dist.irecv(got[0], group=group, group_src=before)
        r2 = dist.irecv(got[1], group=group, group_src=after)
        for one in (send1, send2, r1, r2):
            one.wait()
        return torch.cat([got[0], x, got[1]])

    wide = swap(block.T, i * Q + (j - 1) % Q, i * Q + (j + 1) % Q).T
    return swap(wide, (i - 1) % P * Q + j, (i + 1) % P * Q + j)
