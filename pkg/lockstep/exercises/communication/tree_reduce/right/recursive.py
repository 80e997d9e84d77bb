"""Recursive: both halves of a span sum to their heads, then the second head sends to the first. Returned."""

import torch
import torch.distributed as dist


def tree_reduce(tensor, dst, group=None):
    members = dist.get_process_group_ranks(group)
    root = members.index(dst)
    order = members[root:] + members[:root]
    return total(tensor.clone().contiguous(), order, order.index(dist.get_rank()), group)


def total(x, order, me, group):
    if len(order) == 1:
        return x
    middle = (len(order) + 1) // 2
    half, seat = (order[:middle], me) if me < middle else (order[middle:], me - middle)
    x = total(x, half, seat, group)
    if me == middle:
        dist.send(x, dst=order[0], group=group)
    elif me == 0:
        other = torch.empty_like(x)
        dist.recv(other, src=order[middle], group=group)
        x = x + other
    return x
