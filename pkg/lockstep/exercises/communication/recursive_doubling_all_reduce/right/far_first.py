"""The distances from the longest to the shortest."""

import torch
import torch.distributed as dist


def recursive_doubling_all_reduce(tensor, group=None):
    rank, distance = dist.get_rank(group), dist.get_world_size(group) // 2
    total = tensor.clone(memory_format=torch.contiguous_format)
    while distance:
        incoming = torch.empty_like(total)
        posted = [
            dist.P2POp(dist.isend, total.clone(), group=group, group_peer=rank ^ distance),
            dist.P2POp(dist.irecv, incoming, group=group, group_peer=rank ^ distance),
        ]
        for work in dist.batch_isend_irecv(posted):
            work.wait()
        total += incoming
        distance //= 2
    return total
