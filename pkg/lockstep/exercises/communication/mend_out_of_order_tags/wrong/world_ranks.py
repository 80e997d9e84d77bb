"""The learner thought: ranks are ranks."""

import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def mend_out_of_order_tags(first, second, group=None):
    if dist.get_world_size() > 1 and dist.get_rank() == 0:
        dist.send(first, dst=1, tag=1)
        dist.send(second, dst=1, tag=2)
    elif dist.get_rank() == 1:
        dist.recv(first, src=0, tag=1)
        dist.recv(second, src=0, tag=2)
    return first, second
