"""torch's own optimizer makes the outer step, with nesterov only where there is momentum."""

import torch
import torch.distributed as dist


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    shared = torch.nn.Parameter(w.detach().clone())
    outer = torch.optim.SGD([shared], lr=outer_rate, momentum=momentum, nesterov=momentum > 0)
    for begin in range(0, steps, period):
        own = shared.detach().clone()
        for step in range(begin, min(begin + period, steps)):
            own -= rate * gradient(own, step)
        shared.grad = shared.detach() - own
        dist.all_reduce(shared.grad, group=group)
        shared.grad /= dist.get_world_size(group)
        outer.step()
    return shared.detach()
