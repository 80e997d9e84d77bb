"""The learner thought: the share is drawn; sorted, it is read from the disk in order."""

import torch

MISCONCEPTION = "not-shuffled"


def partition(dataset, rank, ranks, epoch):
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch)).tolist()
    return [dataset[i] for i in sorted(order[rank::ranks])]
