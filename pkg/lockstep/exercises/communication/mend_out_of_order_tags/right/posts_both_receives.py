"""Rank 1 posts both receives, in the order it likes, before it waits for either."""

import torch
import torch.distributed as dist

NCCL = "NCCL ignores tags."


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size(group) > 1 and dist.get_rank(group) == 0:
        dist.send(first.contiguous(), group=group, group_dst=1, tag=1)
        dist.send(second.contiguous(), group=group, group_dst=1, tag=2)
    elif dist.get_rank(group) == 1:
        a, b = torch.empty_like(first).contiguous(), torch.empty_like(second).contiguous()
        later = dist.irecv(b, group=group, group_src=0, tag=2)
        sooner = dist.irecv(a, group=group, group_src=0, tag=1)
        later.wait()
        sooner.wait()
        return a, b
    return first, second
