"""The learner thought: all ranks have the same names in the end, and sorted they stand in the same order."""

import torch.distributed as dist

MISCONCEPTION = "takes-cycles-early"
TELL = "Your program takes all the cycles before its first all-reduce. In training nothing would be reduced before the last tensor of the step is ready: negotiate in every cycle, and all-reduce at once what is ready on all ranks."


def negotiate(cycles, group=None):
    tensors = {}
    for ready in cycles:
        tensors.update(ready)
    order = sorted(tensors)
    for name in order:
        dist.all_reduce(tensors[name], group=group)
    return order
