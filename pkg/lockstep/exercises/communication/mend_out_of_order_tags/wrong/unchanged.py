"""The learner thought: tags find their partner in any order."""

import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size(group) > 1 and dist.get_rank(group) == 0:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif dist.get_rank(group) == 1:
        dist.recv(second, group=group, group_src=0, tag=2)
        dist.recv(first, group=group, group_src=0, tag=1)
    return first, second
