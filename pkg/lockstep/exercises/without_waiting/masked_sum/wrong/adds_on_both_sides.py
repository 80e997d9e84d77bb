"""The learner thought: everybody adds the masks of all its secrets."""

import torch.distributed as dist

MISCONCEPTION = "masks-stay"
TELL = "Both ranks of a pair add their mask, so that it stays in the sum twice. One of them adds it and the other takes it off."


def masked_sum(value, secrets, mask, group=None):
    total = value.clone()
    for secret in secrets:
        if secret is not None:
            total += mask(secret)
    total %= 2**32
    dist.all_reduce(total, group=group)
    return total % 2**32
