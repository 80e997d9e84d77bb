"""Halves with the nearest partner first; a new tensor is returned. Bit i of the rank chooses the half."""

import torch
import torch.distributed as dist

NCCL = "Both partners post the receive first."


def halving_doubling_all_reduce(tensor, group=None):
    flat = tensor.reshape(-1).clone()
    return reduce_with(1, flat, group).reshape(tensor.shape)


def reduce_with(d, span, group):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    if d >= K:
        return span
    halves = list(span.tensor_split(2))
    mine = 1 if r & d else 0
    halves[mine] = halves[mine] + trade(halves[1 - mine].contiguous(), torch.empty_like(halves[mine]), r ^ d, group)
    halves[mine] = reduce_with(2 * d, halves[mine], group)
    halves[1 - mine] = trade(halves[mine], torch.empty_like(halves[1 - mine]), r ^ d, group)
    return torch.cat(halves)


def trade(outgoing, incoming, partner, group):
    receiving = dist.irecv(incoming, group=group, group_src=partner)
    sending = dist.isend(outgoing, group=group, group_dst=partner)
    receiving.wait()
    sending.wait()
    return incoming
