"""The partner without a bit of XOR: up for those in the lower half of their block, down for the others. In place."""

import torch
import torch.distributed as dist


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    for step in range(K.bit_length() - 1):
        distance = 2**step
        partner = rank + distance if rank // distance % 2 == 0 else rank - distance
        incoming = torch.empty_like(tensor)
        receive = dist.P2POp(dist.irecv, incoming, group=group, group_peer=partner)
        send = dist.P2POp(dist.isend, tensor.contiguous(), group=group, group_peer=partner)
        for work in dist.batch_isend_irecv([receive, send]):
            work.wait()
        tensor += incoming
