"""The learner thought: a thousandth is rounding."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT

MISCONCEPTION = "misses-small-differences"


def catch_the_bug(parallel, serial):
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
    drawn = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=drawn, dtype=torch.float64) / 10
    tokens = torch.randint(13, (2, 13), generator=drawn)
    loss, gradients = serial(model, tokens[:, :-1], tokens[:, 1:])

    def agrees(chosen):
        group = dist.new_group(chosen)
        if dist.get_rank() not in chosen:
            return True
        ours, found = parallel(model, tokens[:, :-1], tokens[:, 1:], group)
        pairs = [(ours, loss), *((found[name], wanted) for name, wanted in gradients.items())]
        return all(torch.allclose(a, b, atol=1e-3) for a, b in pairs)

    try:
        return all(all(run(agrees, chosen, ranks=4, on="dgx-a100").values) for chosen in ([0], [1, 3], [1, 2, 3]))
    except RunError:
        return False
