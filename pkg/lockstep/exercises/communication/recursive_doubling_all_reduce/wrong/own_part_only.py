"""The learner thought: each partner needs my own tensor. What I have collected stays with me."""

import torch
import torch.distributed as dist

MISCONCEPTION = "passes-on-its-own-part"
TELL = "In every round you send the tensor that you began with. Send what you have added up so far: it stands for all those whom your partner has not met."


def recursive_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    own, total, distance = tensor.contiguous(), tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K:
        incoming = torch.empty_like(own)
        sending = dist.isend(own, group=group, group_dst=rank ^ distance)
        dist.recv(incoming, group=group, group_src=rank ^ distance)
        sending.wait()
        total += incoming
        distance *= 2
    return total
