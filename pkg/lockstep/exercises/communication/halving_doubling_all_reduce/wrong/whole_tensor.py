"""The learner thought: the doubling is what makes it fast, so exchange everything at distances 1, 2, 4 ..."""

import torch
import torch.distributed as dist

MISCONCEPTION = "whole-tensor"
TELL = "The whole tensor travels in every exchange. Give half of it, and keep and add the other half; with the next partner half of that."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def halving_doubling_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    incoming = torch.empty_like(x)
    d = 1
    while d < K:
        swap(x, r ^ d, incoming, r ^ d, group)
        x += incoming
        d *= 2
    return x
