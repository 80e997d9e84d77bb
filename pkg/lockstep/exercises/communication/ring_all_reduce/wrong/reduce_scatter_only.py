"""The learner thought: after K-1 rounds every chunk has been everywhere."""

import torch
import torch.distributed as dist

MISCONCEPTION = "reduce-scatter-only"
TELL = "This is the first trip only: one chunk is complete on each rank, and the others are partial sums. The second trip, the all-gather, is missing."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def ring_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    chunks = x.view(-1).tensor_split(K)
    for t in range(K - 1):
        outgoing, target = chunks[(r - t) % K], chunks[(r - t - 1) % K]
        incoming = torch.empty_like(target)
        swap(outgoing, (r + 1) % K, incoming, (r - 1) % K, group)
        target += incoming
    return x
