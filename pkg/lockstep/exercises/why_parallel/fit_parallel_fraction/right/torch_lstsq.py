"""The same in torch."""

import torch


def fit_parallel_fraction(workers, times):
    s = torch.tensor(workers, dtype=torch.float64)
    t = torch.tensor(times, dtype=torch.float64)
    columns = torch.stack([torch.ones_like(s), 1 / s], dim=1)
    serial, parallel = torch.linalg.lstsq(columns, t[:, None]).solution.flatten().tolist()
    return parallel / (serial + parallel)
