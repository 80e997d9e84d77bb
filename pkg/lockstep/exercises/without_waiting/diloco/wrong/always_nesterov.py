"""The learner thought: torch's SGD has a switch for it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:RankRaised"
TELL = "torch's SGD refuses nesterov=True where momentum is 0. There its outer step is plain: nesterov=momentum > 0."
RAISES = "Nesterov momentum requires a momentum"


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    shared = torch.nn.Parameter(w.detach().clone())
    outer = torch.optim.SGD([shared], lr=outer_rate, momentum=momentum, nesterov=True)
    for begin in range(0, steps, period):
        own = shared.detach().clone()
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        shared.grad = shared.detach() - own
        dist.all_reduce(shared.grad, group=group)
        shared.grad /= dist.get_world_size(group)
        outer.step()
    return shared.detach()
