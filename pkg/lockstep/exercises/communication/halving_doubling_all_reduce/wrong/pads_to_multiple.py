"""The learner thought: zeros at the end do no harm."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-all-bytes"


def halving_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    n = tensor.numel()
    padded = -(-n // K) * K
    flat = torch.zeros(padded, dtype=tensor.dtype)
    flat[:n] = tensor.reshape(-1)

    def exchange(outgoing, partner):
        incoming = torch.empty_like(outgoing)
        sending = dist.isend(outgoing, group=group, group_dst=partner)
        dist.recv(incoming, group=group, group_src=partner)
        sending.wait()
        return incoming

    low, high, steps = 0, padded, []
    d = K // 2
    while d >= 1:
        middle = (low + high) // 2
        keep, give = ((middle, high), (low, middle)) if rank & d else ((low, middle), (middle, high))
        flat[slice(*keep)] += exchange(flat[slice(*give)], rank ^ d)
        steps.append((rank ^ d, keep, give))
        low, high = keep
        d //= 2
    for partner, mine, theirs in reversed(steps):
        flat[slice(*theirs)] = exchange(flat[slice(*mine)], partner)
    return flat[:n].view(tensor.shape)
