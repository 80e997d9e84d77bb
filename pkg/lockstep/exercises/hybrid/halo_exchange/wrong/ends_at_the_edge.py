"""The learner thought: beyond the edge of the field there is nothing."""

MISCONCEPTION = "wrong-values"
TELL = "Beyond the edge of the field you have zeros. The field ends nowhere: above the top row of blocks comes the bottom row, and to the left of the first column the last one."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    i, j = divmod(dist.get_rank(group), Q)

    def swap(x, before, after):
        got, works = torch.zeros(2, width, x.shape[1], dtype=x.dtype), []
        if after is not None:
            works.append(dist.isend(x[-width:].contiguous(), group=group, group_dst=after))
            works.append(dist.irecv(got[1], group=group, group_src=after))
        if before is not None:
            works.append(dist.isend(x[:width].contiguous(), group=group, group_dst=before))
            works.append(dist.irecv(got[0], group=group, group_src=before))
        for work in works:
            work.wait()
        return torch.cat([got[0], x, got[1]])

    me = i * Q + j
    tall = swap(block, me - Q if i else None, me + Q if i < P - 1 else None)
    return swap(tall.T, me - 1 if j else None, me + 1 if j < Q - 1 else None).T
