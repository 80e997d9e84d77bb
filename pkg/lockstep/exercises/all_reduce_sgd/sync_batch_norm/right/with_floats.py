"""Column by column, in Python's own numbers."""

import torch
import torch.distributed as dist


def sync_batch_norm(x, eps, group=None):
    columns = x.t().tolist()
    sums = [float(len(x))] + [sum(c) for c in columns] + [sum(v * v for v in c) for c in columns]
    shared = torch.tensor(sums, dtype=torch.float64, device=x.device)
    dist.all_reduce(shared, group=group)
    n, C = shared[0].item(), len(columns)
    result = torch.empty_like(x)
    for j in range(C):
        mean = shared[1 + j].item() / n
        variance = shared[1 + C + j].item() / n - mean * mean
        result[:, j] = (x[:, j] - mean) / (variance + eps) ** 0.5
    return result
