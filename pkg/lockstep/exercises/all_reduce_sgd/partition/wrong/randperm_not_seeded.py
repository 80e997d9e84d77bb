"""The learner thought: all ranks have begun with the same seed, so randperm gives all of them the same."""

import torch

MISCONCEPTION = "unseeded"


def partition(dataset, rank, ranks, epoch):
    return [dataset[i] for i in torch.randperm(len(dataset))[rank::ranks]]
