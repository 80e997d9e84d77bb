"""The learner thought: indexing with a permutation gives a tensor of the dataset."""

import torch

MISCONCEPTION = "crashed:RankRaised"


def partition(dataset, rank, ranks, epoch):
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch))
    return torch.as_tensor(dataset)[order][rank::ranks]
