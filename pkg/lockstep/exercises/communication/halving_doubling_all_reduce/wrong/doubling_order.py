"""The learner thought: the same exchanges once more. They go backwards."""

import torch
import torch.distributed as dist

MISCONCEPTION = "doubling-order"
TELL = "The doubling meets the partners in the order of the halving. It goes backwards: the last partner first, since with it the smallest parts are exchanged."


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
        keep, give = (high, low) if rank & distance else (low, high)
        incoming = torch.empty_like(keep)
        exchange(give, incoming, rank ^ distance, group)
        keep += incoming
        given.append((keep, give, distance))
        mine, distance = keep, distance // 2
    for keep, give, distance in given:
        exchange(keep, give, rank ^ distance, group)
    return total
