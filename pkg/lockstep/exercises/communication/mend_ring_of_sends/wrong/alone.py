"""The learner never tried it with one rank: a rank that sends to itself waits for itself."""

import torch
import torch.distributed as dist

MISCONCEPTION = "fails-alone"


def mend_ring_of_sends(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    received = torch.empty_like(tensor)
    if r % 2 == 0:
        dist.send(tensor, group=group, group_dst=(r + 1) % K)
        dist.recv(received, group=group, group_src=(r - 1) % K)
    else:
        dist.recv(received, group=group, group_src=(r - 1) % K)
        dist.send(tensor, group=group, group_dst=(r + 1) % K)
    return received
