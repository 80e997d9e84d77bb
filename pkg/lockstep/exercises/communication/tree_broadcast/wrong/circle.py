"""The learner thought: a send to a rank that does not listen yet goes through."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def tree_broadcast(tensor, src, group=None):
    K, rank = dist.get_world_size(group), dist.get_rank(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (rank - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    d = 1
    while d < K:
        dist.send(x, group=group, group_dst=(rank + d) % K)
        dist.recv(incoming, group=group, group_src=(rank - d) % K)
        if d <= v < 2 * d:
            x.copy_(incoming)
        d *= 2
    tensor.copy_(x)
