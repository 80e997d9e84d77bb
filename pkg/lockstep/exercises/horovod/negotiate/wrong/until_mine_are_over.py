"""The learner thought: when my cycles are over, I am done."""

from collections import Counter

import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, count = {}, [], Counter()
    for new in cycles:
        mine.update(new)
        told = [None] * K if dist.get_rank(group) == 0 else None
        dist.gather_object(list(new), told, group=group, group_dst=0)
        answer = [None]
        if told:
            count.update(name for names in told for name in names)
            answer = [[name for name in count if count[name] == K and name not in order]]
        dist.broadcast_object_list(answer, group=group, group_src=0)
        for name in answer[0]:
            dist.all_reduce(mine[name], group=group)
            order.append(name)
    return order
