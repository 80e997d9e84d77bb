"""The learner gave both messages the same tag, and forgot that now the order decides."""

import torch.distributed as dist

MISCONCEPTION = "swapped"
TELL = (
    "Rank 1 returns (second, first): with the same tag, or none, messages arrive in the order in which they are sent."
)


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size(group) > 1 and dist.get_rank(group) == 0:
        dist.send(first, group=group, group_dst=1)
        dist.send(second, group=group, group_dst=1)
    elif dist.get_rank(group) == 1:
        dist.recv(second, group=group, group_src=0)
        dist.recv(first, group=group, group_src=0)
    return first, second
