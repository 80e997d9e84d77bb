"""The learner thought: memory to receive into is needed once."""

import torch
import torch.distributed as dist

MISCONCEPTION = "kept-between-calls"


_kept = {}


def mend_ring_of_sends(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        return tensor.clone()
    key = (dist.get_rank(), tensor.shape, tensor.dtype)
    received = _kept.setdefault(key, torch.empty_like(tensor))
    sending = dist.isend(tensor, group=group, group_dst=(rank + 1) % K)
    dist.recv(received, group=group, group_src=(rank - 1) % K)
    sending.wait()
    return received
