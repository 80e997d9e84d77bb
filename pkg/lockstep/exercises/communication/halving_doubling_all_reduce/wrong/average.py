"""The learner thought: all-reduce averages."""

import torch
import torch.distributed as dist

MISCONCEPTION = "averages"
TELL = "This is the average; the exercise asks for the sum."


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
    return (x / K).to(x.dtype)
