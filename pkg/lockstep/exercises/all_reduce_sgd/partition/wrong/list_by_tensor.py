"""The learner thought: a list can be indexed by a list of positions, as an array can."""

import torch

MISCONCEPTION = "crashed:RankRaised"
TELL = "A list takes one position at a time: [dataset[i] for i in positions]."
RAISES = "^TypeError: list indices must be integers or slices"


def partition(dataset, rank, ranks, epoch):
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch)).tolist()
    return dataset[order[rank::ranks]]
