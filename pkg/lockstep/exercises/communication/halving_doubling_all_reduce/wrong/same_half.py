"""The learner thought: keep the low half, send the high one."""

import torch
import torch.distributed as dist

MISCONCEPTION = "keeps-same-half"
TELL = "Two partners keep the same half at some distance, so that nobody completes the other half. Partners r and r ^ d differ in one bit, that of d: let r & d decide who keeps which half."
VARIANTS = ["lower_ranks", "parity"]


def exchange(outgoing, incoming, partner, group):
    sending = dist.isend(outgoing.contiguous(), group=group, group_dst=partner)
    dist.recv(incoming, group=group, group_src=partner)
    sending.wait()


def halving_doubling_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)
    mine, given = total.view(-1), []
    distance = K // 2
    while distance:
        low, high = mine.tensor_split(2)
        keep, give = low, high
        incoming = torch.empty_like(keep)
        exchange(give, incoming, rank ^ distance, group)
        keep += incoming
        given.append((keep, give, distance))
        mine, distance = keep, distance // 2
    for keep, give, distance in reversed(given):
        exchange(keep, give, rank ^ distance, group)
    return total
