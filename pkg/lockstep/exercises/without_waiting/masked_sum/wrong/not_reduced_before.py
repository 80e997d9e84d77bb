"""The learner thought: one modulo at the end is enough."""

import torch.distributed as dist

MISCONCEPTION = "out-of-range"


def masked_sum(value, secrets, mask, group=None):
    rank, total = dist.get_rank(group), value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            total += mask(secret) if rank < other else -mask(secret)
    dist.all_reduce(total, group=group)
    return total % 2**32
