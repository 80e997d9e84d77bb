"""The learner thought: a halo of width w is w halos of width 1."""

MISCONCEPTION = "too-many-messages"
TELL = "You send each row on its own. `width` rows fit in one message."

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    i, j = divmod(me, Q)

    def swap(x, before, after):
        if before == me:
            return torch.cat([x[-width:], x, x[:width]])
        got = torch.empty(2, width, x.shape[1], dtype=x.dtype)
        works = []
        for n in range(width):
            works.append(dist.isend(x[n - width].contiguous(), group=group, group_dst=after))
            works.append(dist.irecv(got[0, n], group=group, group_src=before))
        for n in range(width):
            works.append(dist.isend(x[n].contiguous(), group=group, group_dst=before))
            works.append(dist.irecv(got[1, n], group=group, group_src=after))
        for work in works:
            work.wait()
        return torch.cat([got[0], x, got[1]])

    tall = swap(block, (i - 1) % P * Q + j, (i + 1) % P * Q + j)
    return swap(tall.T, i * Q + (j - 1) % Q, i * Q + (j + 1) % Q).T
