"""The learner thought: the tensors of a cycle can be summed in one buffer, as Horovod fuses them."""

from collections import Counter

MISCONCEPTION = "one-buffer"
TELL = "The tensors of a cycle are summed in one float64 buffer. Each name has an all-reduce of its own; and float64 rounds whole numbers beyond 2**53."

import torch
import torch.distributed as dist


def negotiate(cycles, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    tensors, counts, order, now = {}, Counter(), [], []
    while now is not None:
        mine = next(cycles, None)
        tensors |= mine or {}
        told = [None] * K if rank == 0 else None
        dist.gather_object(None if mine is None else list(mine), told, group=group, group_dst=0)
        answer = [None]
        if rank == 0 and any(t is not None for t in told):
            for names in told:
                counts.update(names or [])
            answer = [[name for name in counts if counts[name] == K]]
            for name in answer[0]:
                counts[name] = K + 1
        dist.broadcast_object_list(answer, group=group, group_src=0)
        now = answer[0]
        if now:
            flat = torch.cat([tensors[name].flatten().double() for name in now])
            dist.all_reduce(flat, group=group)
            for name, part in zip(now, flat.split([tensors[name].numel() for name in now])):
                tensors[name].copy_(part.view(tensors[name].shape))
            order += now
    return order
