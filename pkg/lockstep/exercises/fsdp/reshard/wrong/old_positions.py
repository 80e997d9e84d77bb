"""The learner thought: begin and end are places in the whole vector."""

import torch

MISCONCEPTION = "crashed:RankRaised"


def reshard(read, numel, old, new, rank):
    n, own = -(-numel // old), -(-numel // new)
    first, last = rank * own, min(numel, (rank + 1) * own)
    parts = [read(q, max(first, q * n), min(last, (q + 1) * n)) for q in range(first // n, -(-last // n))]
    found = torch.cat(parts)
    return torch.nn.functional.pad(found, (0, own - len(found)))
