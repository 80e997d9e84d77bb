"""The learner thought: the masks are gone, so what is left is the sum."""

import torch.distributed as dist

MISCONCEPTION = "no-modulo-at-the-end"
TELL = "The masks are gone only modulo 2**32: the sum of numbers below 2**32 is larger than that. Take it modulo 2**32 after the all-reduce, too."


def masked_sum(value, secrets, mask, group=None):
    rank, total = dist.get_rank(group), value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            total += mask(secret) if rank < other else -mask(secret)
    total %= 2**32
    dist.all_reduce(total, group=group)
    return total
