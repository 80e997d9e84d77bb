"""The learner thought: what makes it a ring is that everyone talks to the neighbour only."""

import torch
import torch.distributed as dist

MISCONCEPTION = "whole-tensor"
TELL = "The whole tensor travels in every message: cut it into K chunks first, and send one of them in each step."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def ring_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    passing, incoming = x.clone(), torch.empty_like(x)
    for _ in range(K - 1):
        swap(passing, (r + 1) % K, incoming, (r - 1) % K, group)
        x += incoming
        passing.copy_(incoming)
    return x
