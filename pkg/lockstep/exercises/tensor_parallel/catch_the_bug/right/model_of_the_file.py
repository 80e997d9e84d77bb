"""The model is made once, outside of the test, where its numbers are moved, too; one rank, and several groups in one run."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT


torch.manual_seed(7)
model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
for p in model.parameters():
    p.data = torch.randn(p.shape, dtype=torch.float64) * 0.3


def catch_the_bug(parallel, serial):
    tokens = torch.randint(0, 13, (3, 13))
    x, y = tokens[:, :-1], tokens[:, 1:]
    want = serial(model, x, y)

    def same(got):
        return torch.allclose(got[0], want[0], rtol=1e-8) and all(
            torch.allclose(got[1][k], want[1][k], rtol=1e-6, atol=1e-9) for k in want[1]
        )

    def task():
        K = dist.get_world_size()
        ok = True
        groups = [dist.new_group(m) for m in ([0], [0, 1], [1, 2, 3], [0, 1, 2, 3]) if max(m) < K]
        for g in groups:
            if g is not dist.GroupMember.NON_GROUP_MEMBER:
                ok &= same(parallel(model=model, tokens=x, following=y, group=g))
        return bool(ok)

    try:
        return all(all(run(task, ranks=r, on="dgx-a100").values) for r in (1, 4))
    except RunError:
        return False
