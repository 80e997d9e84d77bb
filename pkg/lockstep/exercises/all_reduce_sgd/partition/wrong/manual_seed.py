"""The learner thought: torch.manual_seed makes randperm repeatable."""

import torch

MISCONCEPTION = "touches-generator"


def partition(dataset, rank, ranks, epoch):
    torch.manual_seed(epoch)
    order = torch.randperm(len(dataset)).tolist()
    return [dataset[i] for i in order[rank::ranks]]
