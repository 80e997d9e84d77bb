"""The learner thought: the ring sends the fewest bytes, so it must be as good."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ring"
TELL = "These are the messages of a ring: 2(K-1) of each rank, to its neighbour. Exchange with rank ^ d instead, for d = K/2, K/4 ... 1, and then backwards."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def halving_doubling_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    chunks = x.view(-1).tensor_split(K)
    for t in range(K - 1):
        outgoing, target = chunks[(r - t) % K], chunks[(r - t - 1) % K]
        incoming = torch.empty_like(target)
        swap(outgoing, (r + 1) % K, incoming, (r - 1) % K, group)
        target += incoming
    for t in range(K - 1):
        outgoing, target = chunks[(r + 1 - t) % K], chunks[(r - t) % K]
        swap(outgoing, (r + 1) % K, target, (r - 1) % K, group)
    return x
