"""The learner posts both receives, so that their order does not matter, and returns before they are there."""

import torch.distributed as dist

MISCONCEPTION = "never-waited"


def mend_out_of_order_tags(first, second, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if rank == 0 and K > 1:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif rank == 1:
        dist.irecv(second, group=group, group_src=0, tag=2)
        dist.irecv(first, group=group, group_src=0, tag=1)
    return first, second
