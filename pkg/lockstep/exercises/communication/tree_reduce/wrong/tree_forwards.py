"""The learner took the broadcast and turned its arrows round, but not its order."""

import torch
import torch.distributed as dist

MISCONCEPTION = "drops-partial-sums"
TELL = "Each rank sends its own tensor alone, and what it receives ends there. First receive from all children and add, and then send the sum."
VARIANTS = ["own_tensor_only"]


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    incoming = torch.empty_like(x)
    for i in range((K - 1).bit_length()):
        d = 2**i
        if d <= v < 2 * d:
            dist.send(x, group=group, group_dst=(root + v - d) % K)
        elif v < d and v + d < K:
            dist.recv(incoming, group=group, group_src=(root + v + d) % K)
            x += incoming
    tensor.copy_(x)
