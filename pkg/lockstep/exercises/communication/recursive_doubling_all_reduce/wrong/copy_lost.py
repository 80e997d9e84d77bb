"""The learner bound the name tensor anew in every round, and returned nothing."""

import torch
import torch.distributed as dist

MISCONCEPTION = "returns-nothing"
TELL = "The tensor is as it was, and so is what you return, if you return anything: the sum came about elsewhere, in a copy or in names bound anew with =. Return the sum, or write it into the argument."


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    distance = 1
    while distance < K:
        incoming = torch.empty_like(tensor)
        sending = dist.isend(tensor, group=group, group_dst=rank ^ distance)
        dist.recv(incoming, group=group, group_src=rank ^ distance)
        sending.wait()
        tensor = tensor + incoming
        distance *= 2
