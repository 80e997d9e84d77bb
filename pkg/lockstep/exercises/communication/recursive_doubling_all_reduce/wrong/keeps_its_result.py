"""The learner thought: memory for the result is needed once."""

import torch
import torch.distributed as dist

MISCONCEPTION = "kept-between-calls"


_totals = {}


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    key = (dist.get_rank(), K, tensor.shape, tensor.dtype)
    if key not in _totals:
        _totals[key] = torch.empty(tensor.shape, dtype=tensor.dtype)
    total = _totals[key].copy_(tensor.detach())
    d = 1
    while d < K:
        partner = rank ^ d
        incoming = torch.empty_like(total)
        sending = dist.isend(total, group=group, group_dst=partner)
        dist.recv(incoming, group=group, group_src=partner)
        sending.wait()
        total += incoming
        d *= 2
    return total
