"""What torch's own all-reduce gives is what is right."""

import torch
import torch.distributed as dist

from lockstep import run


def both(fn, numel, members):
    group = dist.new_group(members)
    if dist.get_rank() not in members:
        return True
    mine = torch.arange(float(numel)) ** (dist.get_rank() + 1)
    torchs = mine.clone()
    dist.all_reduce(torchs, group=group)
    returned = fn(mine, group=group)
    return torch.equal(mine if returned is None else returned, torchs)


def is_all_reduce(fn):
    try:
        return all(
            all(run(both, fn, numel, members, ranks=4).values)
            for members in ([0, 1], [1, 2, 3], [0, 1, 2, 3])
            for numel in (5, 12)
        )
    except Exception:
        return False
