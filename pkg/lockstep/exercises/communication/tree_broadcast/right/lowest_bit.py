"""MPICH's numbering: the parent of v is v without its lowest bit; the farthest child is served first."""

import torch.distributed as dist


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    mask = 1
    while mask < K and not v & mask:
        mask *= 2
    if v:
        dist.recv(x, group=group, group_src=(root + v - mask) % K)
    while mask > 1:
        mask //= 2
        if v + mask < K:
            dist.send(x, group=group, group_dst=(root + v + mask) % K)
    tensor.copy_(x)
