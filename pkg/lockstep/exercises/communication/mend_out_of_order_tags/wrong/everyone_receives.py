"""The learner thought: who does not send receives."""

import torch.distributed as dist

MISCONCEPTION = "only-two-ranks"


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size(group) == 1:
        return first, second
    if dist.get_rank(group) == 0:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    else:
        dist.recv(first, group=group, group_src=0, tag=1)
        dist.recv(second, group=group, group_src=0, tag=2)
    return first, second
