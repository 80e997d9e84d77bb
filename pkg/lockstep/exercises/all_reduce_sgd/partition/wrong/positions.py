"""The learner thought: a sampler gives positions."""

import torch

MISCONCEPTION = "positions"


def partition(dataset, rank, ranks, epoch):
    return torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch)).tolist()[rank::ranks]
