"""The learner thought: in every cycle a rank tells all that it still has, so that nothing is forgotten."""

from collections import Counter

import torch.distributed as dist

MISCONCEPTION = "crashed:RankRaised"


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, count = {}, [], Counter()
    going = True
    while going:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K if dist.get_rank(group) == 0 else None
        dist.gather_object((list(mine), new is not None), told, group=group, group_dst=0)
        answer = [None, None]
        if told:
            count.update(name for names, _ in told for name in names)
            answer = [[name for name in count if count[name] >= K], any(more for _, more in told)]
            for name in answer[0]:
                del count[name]
        dist.broadcast_object_list(answer, group=group, group_src=0)
        names, going = answer
        for name in names:
            dist.all_reduce(mine.pop(name), group=group)
            order.append(name)
    return order
