"""The learner tried it with two ranks."""

import torch
import torch.distributed as dist

MISCONCEPTION = "only-two-ranks"


def swap(outgoing, to, incoming, origin, group):
    sending = dist.isend(outgoing, group=group, group_dst=to)
    dist.recv(incoming, group=group, group_src=origin)
    sending.wait()


def halving_doubling_all_reduce(tensor, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    x = tensor.contiguous().clone()
    if K > 1:
        low, high = x.view(-1).tensor_split(2)
        keep, give = (high, low) if r % 2 else (low, high)
        incoming = torch.empty_like(keep)
        swap(give, r ^ 1, incoming, r ^ 1, group)
        keep += incoming
        swap(keep, r ^ 1, give, r ^ 1, group)
    return x
