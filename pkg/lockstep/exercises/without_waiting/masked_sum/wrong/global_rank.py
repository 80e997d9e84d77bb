"""The learner thought: dist.get_rank() is who I am."""

import torch.distributed as dist

MISCONCEPTION = "global-rank"
TELL = "In a group you compare this process's rank in the world with places in the list, which count the ranks of the group: dist.get_rank(group)."


def masked_sum(value, secrets, mask, group=None):
    rank, total = dist.get_rank(), value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            total += mask(secret) if rank < other else -mask(secret)
    total %= 2**32
    dist.all_reduce(total, group=group)
    return total % 2**32
