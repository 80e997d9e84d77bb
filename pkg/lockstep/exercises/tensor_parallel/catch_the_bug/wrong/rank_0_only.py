"""The learner thought: all ranks have the same, so one is enough."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT

MISCONCEPTION = "misses-some-ranks"
ALSO = ["misses-groups"]


def catch_the_bug(parallel, serial):
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
    drawn = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=drawn, dtype=torch.float64) / 10
    tokens = torch.randint(13, (2, 13), generator=drawn)
    loss, gradients = serial(model, tokens[:, :-1], tokens[:, 1:])

    def agrees():
        ours, found = parallel(model, tokens[:, :-1], tokens[:, 1:])
        pairs = [(ours, loss), *((found[name], wanted) for name, wanted in gradients.items())]
        return all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in pairs)

    try:
        return all(run(agrees, ranks=ranks, on="dgx-a100").values[0] for ranks in (1, 2, 3))
    except RunError:
        return False
