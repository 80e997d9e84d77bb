"""The learner thought: who must not be overtaken waits for an answer."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-all-messages"


def mend_out_of_order_tags(first, second, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    note = torch.zeros(1)
    if rank == 0 and K > 1:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.recv(note, group=group, group_src=1, tag=3)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif rank == 1:
        dist.recv(first, group=group, group_src=0, tag=1)
        dist.send(note, group=group, group_dst=0, tag=3)
        dist.recv(second, group=group, group_src=0, tag=2)
    return first, second
