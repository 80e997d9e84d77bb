"""The last rank begins, and the order goes backwards."""

import torch


def partition(dataset, rank, ranks, epoch):
    generator = torch.Generator()
    generator.manual_seed(2**31 + epoch)
    order = torch.randperm(len(dataset), generator=generator)
    return [dataset[int(i)] for n, i in enumerate(order.flip(0)) if n % ranks == ranks - 1 - rank]
