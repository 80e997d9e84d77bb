"""The learner thought: twice a mask hides twice as well, and cancels just the same."""

import torch.distributed as dist

MISCONCEPTION = "other-masks"


def masked_sum(value, secrets, mask, group=None):
    rank = dist.get_rank(group)
    hidden = value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            hidden += 2 * mask(secret) if other > rank else -2 * mask(secret)
    hidden %= 2**32
    dist.all_reduce(hidden, group=group)
    return hidden % 2**32
