"""The learner thought: every rank returns its own names, which are the same in the end."""

from collections import Counter

import torch.distributed as dist

MISCONCEPTION = "wrong-order"
TELL = "Your list has the names in the order in which they became ready on each rank. It should have them in the order in which they are all-reduced, which is the same everywhere."


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, count, going = {}, Counter(), True
    while going:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K if dist.get_rank(group) == 0 else None
        dist.gather_object(None if new is None else list(new), told, group=group, group_dst=0)
        answer = [None, None]
        if told:
            count.update(name for names in told for name in names or [])
            answer = [[name for name in count if count[name] == K], any(names is not None for names in told)]
            count.update(answer[0])  # they no longer have K
        dist.broadcast_object_list(answer, group=group, group_src=0)
        names, going = answer
        for name in names:
            dist.all_reduce(mine[name], group=group)
    return list(mine)
