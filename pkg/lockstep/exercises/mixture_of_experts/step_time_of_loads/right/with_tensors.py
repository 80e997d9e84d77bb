"""The loads as a tensor of ranks, ranks and experts of a rank."""

import torch


def step_time_of_loads(loads, row_bytes, alpha, beta, seconds):
    K = len(loads)
    n = torch.tensor(loads, dtype=torch.float64).view(K, K, -1).sum(2)
    busiest = torch.maximum(n.sum(0), n.sum(1)).max()
    return 2 * (K - 1) * (alpha + row_bytes * busiest / K * beta) + n.sum(0).max() * seconds
