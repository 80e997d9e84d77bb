"""The learner thought: it ran with MPI and small messages, so it is right."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    received = torch.empty_like(tensor)
    dist.send(tensor, group=group, group_dst=(r + 1) % K)
    dist.recv(received, group=group, group_src=(r - 1) % K)
    return received
