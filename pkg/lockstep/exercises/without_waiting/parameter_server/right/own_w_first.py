"""The first step needs no message: everybody has w."""

import torch
import torch.distributed as dist


def parameter_server(gradient, w, steps, rate, bound, group=None):
    rank = dist.get_rank(group)
    if rank:
        seen = w.clone()
        for step in range(steps):
            left = seen.new_full((1,), float(steps - 1 - step > 0))
            dist.send(torch.cat((left, gradient(seen, step).view(-1))), group=group, group_dst=0)
            if step < steps - 1:
                dist.recv(seen, group=group, group_src=0)
        if not steps:
            dist.send(torch.cat((w.new_zeros(1), torch.zeros_like(w).view(-1))), group=group, group_dst=0)
        return seen
    final, message = w.clone(), w.new_empty(1 + w.numel())
    steps_of = {dist.get_global_rank(group, r) if group else r: 0 for r in range(1, dist.get_world_size(group))}
    asking = []
    while steps_of:
        source = dist.recv(message, group=group)
        final -= rate * message[1:].view_as(w)
        steps_of[source] += 1
        if message[0] > 0:
            asking.append(source)
        else:
            steps_of.pop(source)
        behind = min(steps_of.values(), default=0)
        for r in [r for r in asking if steps_of[r] - bound <= behind]:
            dist.send(final, r, group=group)
            asking.remove(r)
    return final
