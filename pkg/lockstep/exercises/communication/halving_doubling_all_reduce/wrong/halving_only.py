"""The learner thought: after the halving everything is summed. It is, but a part on each rank."""

import torch
import torch.distributed as dist

MISCONCEPTION = "reduce-scatter-only"
TELL = "On each rank a K-th is complete, and the rest is as the halving leaves it: partial sums. What the doubling should bring is missing: the same exchanges backwards."


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def halving_doubling_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    span, d = x.view(-1), K // 2
    while d:
        low, high = span.tensor_split(2)
        keep, give = (high, low) if r & d else (low, high)
        incoming = torch.empty_like(keep)
        swap(give, r ^ d, incoming, r ^ d, group)
        keep += incoming
        span, d = keep, d // 2
    return x
