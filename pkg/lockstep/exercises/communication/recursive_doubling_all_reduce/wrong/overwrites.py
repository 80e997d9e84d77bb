"""The learner went on with what had arrived."""

import torch
import torch.distributed as dist

MISCONCEPTION = "forgets-to-add"
TELL = "What arrives takes the place of what was there. Add it."


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    distance = 1
    while distance < K:
        incoming = torch.empty_like(tensor)
        sending = dist.isend(tensor, group=group, group_dst=rank ^ distance)
        dist.recv(incoming, group=group, group_src=rank ^ distance)
        sending.wait()
        tensor = incoming
        distance *= 2
    return tensor
