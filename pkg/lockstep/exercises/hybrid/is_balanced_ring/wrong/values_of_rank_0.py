"""The learner thought: the values of one rank tell."""

MISCONCEPTION = "misses-other-ranks"

import torch
import torch.distributed as dist
import torch.nn.functional as F

from lockstep import run
from lockstep.errors import RunError

H, C, D = 1, 2, 4


def rows(whole, r, K):
    chunks = whole.split(C, dim=1)
    return torch.cat((chunks[r], chunks[2 * K - 1 - r]), dim=1).clone()


def trial(fn, members, large):
    K, group = len(members), dist.new_group(members)
    if dist.get_rank() not in members:
        return True
    r = members.index(dist.get_rank())
    drawn = torch.Generator().manual_seed(11)
    q, k, v = torch.randn(3, H, 2 * K * C, D, generator=drawn, dtype=torch.float64)
    q = q * large
    wanted = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    out = fn(rows(q, r, K), rows(k, r, K), rows(v, r, K), group=group)
    return bool(torch.allclose(out, rows(wanted, r, K)))


def counted(fn):
    drawn = torch.Generator().manual_seed(dist.get_rank())
    fn(*torch.randn(3, H, 2 * C, D, generator=drawn, dtype=torch.float64))


def is_balanced_ring(fn):
    try:
        for members, large in (([0, 1, 2], 1), ([1, 3], 1), ([0, 1, 2, 3], 5000)):
            values = run(trial, fn, members, large, ranks=4, on="virtual", timeout=10).values
            if not values[members[0]]:
                return False
        trace = run(counted, fn, ranks=4, on="virtual", timeout=10).trace
    except RunError:
        return False
    for rank in range(4):
        if sum(e.flops for e in trace if e.rank == rank) > 10 * 4 * H * C * C * D:
            return False
    return {e.kind for e in trace} <= {"compute", "send", "recv"}
