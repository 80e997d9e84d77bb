"""Posts the receive, then sends, then waits; global ranks."""

import torch
import torch.distributed as dist

NCCL = "With two ranks both post a receive from the other before their send."


def mend_ring_of_sends(tensor, group=None):
    members = dist.get_process_group_ranks(group)
    me = members.index(dist.get_rank())
    if len(members) == 1:
        return tensor
    received = torch.empty_like(tensor, memory_format=torch.contiguous_format)
    receiving = dist.irecv(received, src=members[me - 1], group=group)
    dist.send(tensor.contiguous(), dst=members[(me + 1) % len(members)], group=group)
    receiving.wait()
    return received
