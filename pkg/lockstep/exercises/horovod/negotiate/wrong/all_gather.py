"""The learner thought: if all ranks know what all have, nobody needs to coordinate."""

from collections import Counter

import torch.distributed as dist

MISCONCEPTION = "too-many-control-messages"
TELL = "Each rank tells every other one its names: K(K - 1) messages a cycle. Rank 0 alone needs them, and answers: 2(K - 1)."


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, count = {}, [], Counter()
    while True:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K
        dist.all_gather_object(told, None if new is None else list(new), group=group)
        if told == [None] * K:
            return order
        for names in told:
            for name in names or []:
                count[name] += 1
                if count[name] == K:
                    dist.all_reduce(mine[name], group=group)
                    order.append(name)
