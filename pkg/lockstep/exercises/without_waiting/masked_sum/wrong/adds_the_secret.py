"""The learner thought: the secret itself is random enough."""

import torch.distributed as dist

MISCONCEPTION = "same-for-all-elements"


def masked_sum(value, secrets, mask, group=None):
    rank, total = dist.get_rank(group), value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            total += secret if rank < other else -secret
    total %= 2**32
    dist.all_reduce(total, group=group)
    return total % 2**32
