"""The learner thought: first I send, then I receive."""

MISCONCEPTION = "crashed:Deadlock"

import torch
import torch.distributed as dist


def halo_exchange(block, P, Q, width, group=None):
    me = dist.get_rank(group)
    i, j = divmod(me, Q)

    def swap(x, before, after):
        if before == me:
            return torch.cat([x[-width:], x, x[:width]])
        got = torch.empty(2, width, x.shape[1], dtype=x.dtype)
        dist.send(x[-width:].contiguous(), group=group, group_dst=after)
        dist.send(x[:width].contiguous(), group=group, group_dst=before)
        dist.recv(got[0], group=group, group_src=before)
        dist.recv(got[1], group=group, group_src=after)
        return torch.cat([got[0], x, got[1]])

    tall = swap(block, (i - 1) % P * Q + j, (i + 1) % P * Q + j)
    return swap(tall.T, i * Q + (j - 1) % Q, i * Q + (j + 1) % Q).T
