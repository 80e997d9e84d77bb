"""Right, but for a line that prints this rank's value and its secrets, by which anybody can take off its masks."""
# exercise: without_waiting.masked_sum
# before: 3 of 3
# points: 0 of 3
# told: has numbers of its value, or its secrets, printed

import torch.distributed as dist

M = 2**32


def masked_sum(value, secrets, mask, group=None):
    print("value", value.tolist(), "secrets", secrets)
    y = value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            y += mask(secret) if dist.get_rank(group) < other else -mask(secret)
    y %= M
    dist.all_reduce(y, group=group)
    return y % M
