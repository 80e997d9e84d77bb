"""Everything in one vector, which the ranks send back: it is compared outside of the run."""

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RunError
from lockstep.models import GPT


def flat(loss, gradients, names):
    return torch.cat([loss.reshape(1)] + [gradients[name].flatten() for name in names])


def on_rank(parallel, model, tokens, members):
    group = None if members is None else dist.new_group(members)
    if members is not None and dist.get_rank() not in members:
        return None
    names = [name for name, _ in model.named_parameters()]
    return flat(*parallel(model, tokens[:, :-1], tokens[:, 1:], group=group), names)


def catch_the_bug(parallel, serial):
    torch.manual_seed(3)
    model = GPT(vocabulary=11, width=20, heads=4, layers=1, context=6, dtype=torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.rand_like(parameter) - 0.5)
    tokens = torch.randint(11, (3, 7))
    wanted = flat(*serial(model, tokens[:, :-1], tokens[:, 1:]), [name for name, _ in model.named_parameters()])
    for ranks, members in ((3, None), (4, [1, 3])):
        try:
            found = run(on_rank, parallel, model, tokens, members, ranks=ranks, on="dgx-a100").values
        except RunError:
            return False
        for vector in found:
            if vector is not None and (vector - wanted).abs().max() > 1e-8:
                return False
    return True
