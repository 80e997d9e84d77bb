"""The learner thought: gradients are averaged."""

import torch.distributed as dist

MISCONCEPTION = "averages"
TELL = "This is the average of the gradients; the exercise asks for the sum."


def overlapped_step(gradient, x, weights, group=None):
    gradient = gradient.contiguous()
    work = dist.all_reduce(gradient, group=group, async_op=True)
    product = x @ weights
    work.wait()
    return gradient / dist.get_world_size(group), product
