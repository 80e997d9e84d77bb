"""numpy adds up the masks, with unsigned numbers that wrap round by themselves."""

import numpy as np
import torch
import torch.distributed as dist


def masked_sum(value, secrets, mask, group=None):
    rank = dist.get_rank(group)
    own = value.cpu().numpy().astype(np.uint32)
    for other, secret in enumerate(secrets):
        if secret is None:
            continue
        one = mask(secret).cpu().numpy().astype(np.uint32)
        own = own + one if other > rank else own - one
    total = torch.from_numpy(own.astype(np.int64)).to(value.device)
    dist.all_reduce(total, group=group)
    return total % 2**32
