"""The learner thought: hand it on from neighbour to neighbour, then nobody sends twice."""

import torch.distributed as dist

MISCONCEPTION = "chain"
TELL = "Each rank waits for the one before it, so that it takes K-1 rounds. Let every rank that has the tensor send it on in each round: then 1, 2, 4 ... ranks have it."


def tree_broadcast(tensor, src, group=None):
    K = dist.get_world_size(group)
    root = dist.get_process_group_ranks(group).index(src)
    v = (dist.get_rank(group) - root) % K
    x = tensor.contiguous()
    if v > 0:
        dist.recv(x, group=group, group_src=(root + v - 1) % K)
    if v < K - 1:
        dist.send(x, group=group, group_dst=(root + v + 1) % K)
    tensor.copy_(x)
