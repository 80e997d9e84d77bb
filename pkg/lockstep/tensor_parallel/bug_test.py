"""A test that finds the bugs of ``bugs``: a tensor-parallel program is right if it computes what one rank computes."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import RunError
from lockstep.models import GPT
from lockstep.tensor_parallel.bugs import Gradients, Parallel
from lockstep.worlds import run


def is_right(parallel: Parallel, serial: Callable[[GPT, Tensor, Tensor], tuple[Tensor, Gradients]]) -> bool:
    """Whether ``parallel`` returns the loss and the gradients of ``serial``, on every rank of every group.

    1 no bias is zero, as they are in a new model    2 sizes that K doesn't divide    3 three ranks, and a group that
    isn't the world    4 all gradients on all ranks    5 rounding is tolerated    6 a program that fails isn't right
    """
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)  # 2
    drawn = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=drawn, dtype=torch.float64) / 10  # 1
    tokens = torch.randint(13, (2, 13), generator=drawn)
    loss, gradients = serial(model, tokens[:, :-1], tokens[:, 1:])

    def agrees(chosen: list[int]) -> bool:
        group = dist.new_group(chosen)
        if dist.get_rank() not in chosen:
            return True
        ours, found = parallel(model, tokens[:, :-1], tokens[:, 1:], group)
        pairs = [(ours, loss), *((found[name], wanted) for name, wanted in gradients.items())]  # 4
        return all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in pairs)  # 5

    try:
        return all(all(run(agrees, chosen, ranks=4, on="dgx-a100").values) for chosen in ([1, 2, 3], [1, 3], [0]))  # 3
    except RunError:
        return False  # 6
