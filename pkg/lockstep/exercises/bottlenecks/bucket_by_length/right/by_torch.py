"""A torch generator, and tensors until the end."""

import torch


def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    drawn = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    step = size * ranks
    order = torch.randperm(len(lengths), generator=drawn)
    order = order[: order.numel() - order.numel() % step]
    tokens, steps = torch.tensor(lengths, dtype=torch.int64), []
    for near in order.split(window * step):
        if near.numel():
            near = near[tokens[near].argsort()].reshape(-1, ranks, size)
            steps += near[torch.randperm(len(near), generator=drawn)].tolist()
    return steps
