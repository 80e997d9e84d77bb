"""The learner thought: if everyone has the sum, the root has it, too."""

import torch
import torch.distributed as dist

MISCONCEPTION = "everyone-sends"
TELL = "Every rank sends as much as if all of them wanted the sum. Only the root does: a tree sends each partial sum once, K-1 messages in all."


def tree_reduce(tensor, dst, group=None):
    K, rank = dist.get_world_size(group), dist.get_rank(group)
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    passing = x.clone()
    for _ in range(K - 1):
        sending = dist.isend(passing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        passing.copy_(incoming)
        x += incoming
    tensor.copy_(x)
