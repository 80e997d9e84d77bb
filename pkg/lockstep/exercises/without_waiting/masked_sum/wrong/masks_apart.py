"""The learner thought: the masks travel apart, and are taken off at the end."""

import torch
import torch.distributed as dist

MISCONCEPTION = "shows-value"


def masked_sum(value, secrets, mask, group=None):
    masks = torch.zeros_like(value)
    for secret in secrets:
        if secret is not None:
            masks += mask(secret)
    total = (value + masks) % 2**32
    masks %= 2**32
    dist.all_reduce(total, group=group)
    dist.all_reduce(masks, group=group)
    return (total - masks) % 2**32
