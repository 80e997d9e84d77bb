"""The learner thought: rank 0 answers each name by itself, and None when there are no more in this cycle."""

from collections import Counter

import torch.distributed as dist

MISCONCEPTION = "too-many-control-messages"
TELL = "Rank 0 answers each name by a broadcast of its own. One broadcast a cycle can carry them all, in order."


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, count = {}, [], Counter()
    while True:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K if dist.get_rank(group) == 0 else None
        dist.gather_object(None if new is None else list(new), told, group=group, group_dst=0)
        answers = []
        if told:
            count.update(name for names in told for name in names or [])
            answers = [name for name in count if count[name] == K and name not in order]
            answers.append(None if any(names is not None for names in told) else "stop")
        while True:
            answer = [answers.pop(0)] if told else [None]
            dist.broadcast_object_list(answer, group=group, group_src=0)
            if answer[0] in (None, "stop"):
                break
            dist.all_reduce(mine[answer[0]], group=group)
            order.append(answer[0])
        if answer[0] == "stop":
            return order
