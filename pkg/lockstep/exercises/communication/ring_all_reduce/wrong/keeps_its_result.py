"""The learner thought: memory for the result is needed once."""

import torch
import torch.distributed as dist

MISCONCEPTION = "kept-between-calls"


_totals = {}


def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    key = (dist.get_rank(), K, tensor.shape, tensor.dtype)
    if key not in _totals:
        _totals[key] = torch.empty(tensor.shape, dtype=tensor.dtype)
    total = _totals[key].copy_(tensor.detach())
    chunks = total.view(-1).tensor_split(K)
    for step in range(2 * (K - 1)):
        outgoing, target = chunks[(rank - step) % K], chunks[(rank - step - 1) % K]
        incoming = torch.empty_like(target)
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        if step < K - 1:
            target += incoming
        else:
            target.copy_(incoming)
    return total
