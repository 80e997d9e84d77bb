"""The learner thought: every rank gets as many, so that they take as many steps: what is left over can wait."""

import torch

MISCONCEPTION = "drops-tail"


def partition(dataset, rank, ranks, epoch):
    order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(epoch)).tolist()
    size = len(dataset) // ranks
    return [dataset[i] for i in order[rank * size : (rank + 1) * size]]
