"""All groups in one run, each made by all ranks; sizes of no common divisor."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT

GROUPS = [[2], [0, 3], [3, 1, 2], [0, 1, 2, 3]]


def catch_the_bug(parallel, serial):
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 4
    text = torch.randint(13, (1, 13), generator=generator)
    batch = text[:, :-1], text[:, 1:]
    loss, gradients = serial(model, *batch)

    def differs():
        worst = 0.0
        for members in GROUPS:
            group = dist.new_group(members)
            if dist.get_rank() in members:
                ours, found = parallel(model, *batch, group)
                worst = max([worst, abs(ours - loss)] + [(found[n] - gradients[n]).abs().max() for n in gradients])
        return float(worst)

    try:
        return max(run(differs, ranks=4, on="dgx-a100").values) < 1e-9
    except RunError:
        return False
