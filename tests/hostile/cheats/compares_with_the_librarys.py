"""It compares a program with those of the library's list, of which it knows which are right."""
# exercise: tensor_parallel.catch_the_bug
# points: ?
# told: ?

import torch

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT
from lockstep.tensor_parallel import bugs


def catch_the_bug(parallel, serial):
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)).double() / 10
    text = torch.arange(13)[None]

    def wrong_ones_like_it():
        import torch.distributed as dist

        group = dist.new_group([1, 2, 3])
        if dist.get_rank() == 0:
            return set(bugs.WRONG)
        _, mine = parallel(model, text[:, :-1], text[:, 1:], group)
        alike = set()
        for name in [name for name in bugs.WRONG if name != "whole_world"]:
            _, theirs = bugs.WRONG[name](model, text[:, :-1], text[:, 1:], group)
            if all(torch.equal(mine[key], theirs[key]) for key in mine):
                alike.add(name)
        return alike

    try:
        return not set.intersection(*run(wrong_ones_like_it, ranks=4, on="dgx-a100").values)
    except RunError:
        return False
