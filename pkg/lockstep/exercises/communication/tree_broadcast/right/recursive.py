"""Recursive: the head of a span sends to the head of its second half, then both go on by themselves. Returned."""

import torch.distributed as dist


def tree_broadcast(tensor, src, group=None):
    members = dist.get_process_group_ranks(group)
    root = members.index(src)
    order = members[root:] + members[:root]
    x = tensor.clone().contiguous()
    spread(x, order, order.index(dist.get_rank()), group)
    return x


def spread(x, order, me, group):
    if len(order) == 1:
        return
    middle = (len(order) + 1) // 2
    if me == 0:
        dist.send(x, dst=order[middle], group=group)
    elif me == middle:
        dist.recv(x, src=order[0], group=group)
    if me < middle:
        spread(x, order[:middle], me, group)
    else:
        spread(x, order[middle:], me - middle, group)
