"""The learner worked on a copy, to leave the argument alone, and forgot to return it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "returns-nothing"
TELL = "The tensor is as it was, and so is what you return, if you return anything: the sum came about elsewhere, in a copy or in names bound anew with =. Return the sum, or write it into the argument."


def tree_reduce(tensor, dst, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(dst)
    v = (dist.get_rank(group) - root) % K
    x = tensor.clone().contiguous()
    incoming = torch.empty_like(x)
    for i in reversed(range((K - 1).bit_length())):
        d = 2**i
        if d <= v < 2 * d:
            dist.send(x, group=group, group_dst=(root + v - d) % K)
        elif v < d and v + d < K:
            dist.recv(incoming, group=group, group_src=(root + v + d) % K)
            x += incoming
