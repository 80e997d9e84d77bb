"""The learner thought: a broadcast reaches rank 1, too."""

import torch.distributed as dist

MISCONCEPTION = "changes-others"
TELL = "Ranks other than 0 and 1 have rank 0's tensors as well. They must return their own."


def mend_out_of_order_tags(first, second, group=None):
    for tensor in (first, second):
        dist.broadcast(tensor, group=group, group_src=0)
    return first, second
