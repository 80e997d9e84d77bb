"""The learner wrote a ring of whole tensors: right, in K - 1 rounds."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-messages"


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    passing = total.clone()
    for _ in range(K - 1):
        incoming = torch.empty_like(passing)
        sending = dist.isend(passing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        total += incoming
        passing = incoming
    return total
