"""The learner thought: only rank 1 has anything to return."""

import torch.distributed as dist

MISCONCEPTION = "wrong-type"


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size(group) > 1 and dist.get_rank(group) == 0:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif dist.get_rank(group) == 1:
        dist.recv(first, group=group, group_src=0, tag=1)
        dist.recv(second, group=group, group_src=0, tag=2)
        return first, second
    return None
