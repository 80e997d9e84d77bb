"""The learner thought: what one rank has ready is ready."""

import torch.distributed as dist

MISCONCEPTION = "crashed:RankRaised"


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, done, going = {}, [], [], True
    while going:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K if dist.get_rank(group) == 0 else None
        dist.gather_object((list(new or {}), new is not None), told, group=group, group_dst=0)
        answer = [None, None]
        if told:
            names = dict.fromkeys(name for names, _ in told for name in names if name not in done)
            done += names
            answer = [list(names), any(more for _, more in told)]
        dist.broadcast_object_list(answer, group=group, group_src=0)
        names, going = answer
        for name in names:
            dist.all_reduce(mine[name], group=group)
            order.append(name)
    return order
