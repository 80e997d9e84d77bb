"""The learner thought: each rank should have other examples, so each gets a seed of its own."""

import torch

MISCONCEPTION = "own-orders"
ALSO = ["drops-tail"]


def partition(dataset, rank, ranks, epoch):
    generator = torch.Generator().manual_seed(epoch * ranks + rank)
    order = torch.randperm(len(dataset), generator=generator)
    return [dataset[i] for i in order[: len(dataset) // ranks]]
