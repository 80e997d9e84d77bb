"""The learner thought: the result is what must be protected."""

import torch.distributed as dist

MISCONCEPTION = "shows-value"


def masked_sum(value, secrets, mask, group=None):
    total = value.clone()
    dist.all_reduce(total, group=group)
    for secret in secrets:
        if secret is not None:
            total = total + mask(secret) - mask(secret)
    return total % 2**32
