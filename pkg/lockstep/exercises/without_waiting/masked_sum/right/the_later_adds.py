"""The rank with the larger number adds; bits in place of a modulo."""

import torch.distributed as dist


def masked_sum(value, secrets, mask, group=None):
    rank, low = dist.get_rank(group), 2**32 - 1
    total = value
    for other in range(dist.get_world_size(group)):
        if other < rank:
            total = (total + mask(secrets[other])) & low
        elif other > rank:
            total = (total - mask(secrets[other])) & low
    total = total.clone()
    dist.all_reduce(total, op=dist.ReduceOp.SUM, group=group)
    return total & low
