"""MPICH's numbering: nearest partners first; v sends to v without its lowest bit."""

import torch
import torch.distributed as dist


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    mask = 1
    while mask < K:
        if v & mask:
            dist.send(x, group=group, group_dst=(root + v - mask) % K)
            break
        if v + mask < K:
            dist.recv(incoming, group=group, group_src=(root + v + mask) % K)
            x += incoming
        mask *= 2
    tensor.copy_(x)
