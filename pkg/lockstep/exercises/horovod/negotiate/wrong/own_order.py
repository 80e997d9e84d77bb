"""The learner thought: an all-reduce waits until all ranks have called it, so each calls it when its tensor is ready."""

import torch.distributed as dist

MISCONCEPTION = "crashed:Mismatch"


def negotiate(cycles, group=None):
    order = []
    for ready in cycles:
        for name, tensor in ready.items():
            dist.all_reduce(tensor, group=group)
            order.append(name)
    return order
