"""The learner thought: the same pairs in each round, log2 K times."""

import torch
import torch.distributed as dist

MISCONCEPTION = "same-partner"
TELL = "You meet the same partner in every round. The distance doubles: 1, 2, 4 …"


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    for _ in range(K.bit_length() - 1):
        incoming = torch.empty_like(total)
        sending = dist.isend(total.clone(), group=group, group_dst=rank ^ 1)
        dist.recv(incoming, group=group, group_src=rank ^ 1)
        sending.wait()
        total += incoming
    return total
