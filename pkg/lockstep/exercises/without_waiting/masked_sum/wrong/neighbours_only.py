"""The learner thought: two masks hide as well as K - 1. (From everybody but the two neighbours together.)"""

import torch.distributed as dist

MISCONCEPTION = "too-few-masks"


def masked_sum(value, secrets, mask, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    total = value.clone()
    if size == 2:
        total = total + (mask(secrets[1 - rank]) if rank == 0 else -mask(secrets[1 - rank]))
    elif size > 2:
        total = total + mask(secrets[(rank + 1) % size]) - mask(secrets[(rank - 1) % size])
    total = total % 2**32
    work = dist.all_reduce(total, group=group, async_op=True)
    work.wait()
    return total % 2**32
