"""The learner thought: every rank gets as many: I fill up from the beginning, as DistributedSampler does."""

import math

import torch

MISCONCEPTION = "pads-tail"


def partition(dataset, rank, ranks, epoch):
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch)).tolist()
    total = math.ceil(len(order) / ranks) * ranks
    while len(order) < total:
        order += order[: total - len(order)]
    return [dataset[i] for i in order[rank:total:ranks]]
