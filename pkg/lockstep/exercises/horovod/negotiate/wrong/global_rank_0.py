"""The learner thought: rank 0 is the first of any group."""

from collections import Counter

import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, count = {}, [], Counter()
    going = True
    while going:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K if dist.get_rank() == 0 else None
        dist.gather_object(None if new is None else list(new), told, dst=0, group=group)
        answer = [None, None]
        if told:
            count.update(name for names in told for name in names or [])
            names = [name for name in count if count[name] == K and name not in order]
            answer = [names, any(names is not None for names in told)]
        dist.broadcast_object_list(answer, src=0, group=group)
        names, going = answer
        for name in names:
            dist.all_reduce(mine[name], group=group)
            order.append(name)
    return order
