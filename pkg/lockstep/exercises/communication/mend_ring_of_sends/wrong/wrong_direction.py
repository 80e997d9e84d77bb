"""The learner mixed up left and right."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-direction"
TELL = "This is the right neighbour's tensor. The left one is rank - 1: send to rank + 1, and receive from rank - 1."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    if K == 1:
        return tensor.clone()
    received = torch.empty_like(tensor)
    swap(tensor, (r - 1) % K, received, (r + 1) % K, group)
    return received
