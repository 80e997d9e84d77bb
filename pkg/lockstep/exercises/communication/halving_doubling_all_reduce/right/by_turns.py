"""Blocking calls: of two partners the lower one sends first, and the higher one receives first."""

import torch
import torch.distributed as dist


def swap(outgoing, to, incoming, origin, group):
    if dist.get_rank(group) < to:
        dist.send(outgoing, group=group, group_dst=to)
        dist.recv(incoming, group=group, group_src=origin)
    else:
        dist.recv(incoming, group=group, group_src=origin)
        dist.send(outgoing, group=group, group_dst=to)


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
    return x
