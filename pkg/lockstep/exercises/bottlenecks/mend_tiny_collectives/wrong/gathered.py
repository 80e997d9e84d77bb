"""The learner thought: gather everything, and add it up here."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"


def mend_tiny_collectives(gradients, loss, samples, group=None):

    everyone = [None] * dist.get_world_size(group)
    dist.all_gather_object(everyone, [*gradients, loss, torch.tensor(float(samples))], group=group)
    sums = [sum(tensors) for tensors in zip(*everyone)]
    return [total / sums[-1] for total in sums[:-1]]
