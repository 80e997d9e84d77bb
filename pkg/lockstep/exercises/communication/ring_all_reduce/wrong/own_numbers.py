"""The learner thought: `dst` and `src` are ranks of the group."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, dst=to, group=group)
    dist.recv(incoming, src=origin, group=group)
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
    for t in range(K - 1):
        outgoing, target = chunks[(r + 1 - t) % K], chunks[(r - t) % K]
        swap(outgoing, (r + 1) % K, target, (r - 1) % K, group)
    return x
