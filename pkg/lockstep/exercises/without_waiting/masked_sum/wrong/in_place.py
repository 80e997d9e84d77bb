"""The learner thought: value is mine."""

import torch.distributed as dist

MISCONCEPTION = "changes-arguments"


def masked_sum(value, secrets, mask, group=None):
    rank = dist.get_rank(group)
    for other, secret in enumerate(secrets):
        if secret is not None:
            value += mask(secret) if rank < other else -mask(secret)
    value %= 2**32
    dist.all_reduce(value, group=group)
    return value % 2**32
