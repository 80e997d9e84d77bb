"""The learner returned the wrong variable."""

import torch
import torch.distributed as dist

MISCONCEPTION = "returns-own"
TELL = "Every rank has its own tensor again: return what it has received."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    received = torch.empty_like(tensor)
    if K > 1:
        swap(tensor, (r + 1) % K, received, (r - 1) % K, group)
    return tensor
