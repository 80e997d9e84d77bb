"""The learner worked on a copy, to leave the argument alone, and forgot to return it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "returns-nothing"
TELL = "The tensor is as it was, and so is what you return, if you return anything: the sum came about elsewhere, in a copy or in names bound anew with =. Return the sum, or write it into the argument."


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
    for t in range(K - 1):
        outgoing, target = chunks[(r + 1 - t) % K], chunks[(r - t) % K]
        swap(outgoing, (r + 1) % K, target, (r - 1) % K, group)
