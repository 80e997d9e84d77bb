"""The learner thought: rank 0 counts the tensors, so it might as well add them up."""

import torch.distributed as dist

MISCONCEPTION = "tensors-travel"
TELL = "Your tensors go through rank 0, as through a parameter server: its port carries K - 1 of each in, and K - 1 out. The coordinator is told names alone; the all-reduce carries the tensors."


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    mine, order, have, going = {}, [], {}, True
    while going:
        new = next(cycles, None)
        mine.update(new or {})
        told = [None] * K if dist.get_rank(group) == 0 else None
        dist.gather_object(new, told, group=group, group_dst=0)
        answer = [None, None]
        if told:
            for ready in told:
                for name, tensor in (ready or {}).items():
                    have.setdefault(name, []).append(tensor)
            complete = [name for name in have if len(have[name]) == K]
            answer = [{name: sum(have.pop(name)) for name in complete}, any(ready is not None for ready in told)]
        dist.broadcast_object_list(answer, group=group, group_src=0)
        sums, going = answer
        for name, total in sums.items():
            mine[name].copy_(total)
            order.append(name)
    return order
