"""The learner worked on a copy, to leave the argument alone, and forgot to return it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "returns-nothing"
TELL = "The tensor is as it was, and so is what you return, if you return anything: the sum came about elsewhere, in a copy or in names bound anew with =. Return the sum, or write it into the argument."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def halving_doubling_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    span, trail = x.view(-1), []
    d = K // 2
    while d:
        low, high = span.tensor_split(2)
        keep, give = (high, low) if r & d else (low, high)
        incoming = torch.empty_like(keep)
        swap(give, r ^ d, incoming, r ^ d, group)
        keep += incoming
        trail.append((d, keep, give))
        span, d = keep, d // 2
    for d, keep, give in reversed(trail):
        swap(keep, r ^ d, give, r ^ d, group)
