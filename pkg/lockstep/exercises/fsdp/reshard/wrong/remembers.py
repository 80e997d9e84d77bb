"""The learner thought: rank 0 reads all, and the others know it."""

import torch

MISCONCEPTION = "not-read"
vector = {}


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    if rank == 0:
        parts = [read(q, 0, min(n, numel - q * n)) for q in range(old) if q * n < numel]
        vector["all"] = torch.cat([*parts, torch.zeros(own * new - numel)])
    return vector["all"][rank * own : (rank + 1) * own].clone()
