"""The learner thought: what is asked for first is returned first."""

import torch
import torch.distributed as dist

MISCONCEPTION = "swapped"
TELL = "Rank 1 returns (second, first)."
VARIANTS = ["swapped"]


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size(group) > 1 and dist.get_rank(group) == 0:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif dist.get_rank(group) == 1:
        a, b = torch.empty_like(first), torch.empty_like(second)
        dist.recv(a, group=group, group_src=0, tag=1)
        dist.recv(b, group=group, group_src=0, tag=2)
        return b, a
    return first, second
