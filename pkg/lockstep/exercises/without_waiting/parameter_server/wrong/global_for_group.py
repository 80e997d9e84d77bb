"""The learner thought: recv gives a rank of the group."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def parameter_server(gradient, w, steps, rate, bound, group=None):
    if dist.get_rank(group) > 0:
        for step in range(max(1, steps)):
            w = torch.empty_like(w)
            dist.recv(w, group=group, group_src=0)
            g = gradient(w, step) if steps else torch.zeros_like(w)
            more = torch.tensor([step + 1 < steps], dtype=w.dtype)
            dist.send(torch.cat([more, g.flatten()]), group=group, group_dst=0)
        return w
    clock = {r: 0 for r in range(1, dist.get_world_size(group))}
    waiting, message = list(clock), w.new_empty(w.numel() + 1)
    while clock:
        for r in list(waiting):
            if clock[r] <= min(clock.values()) + bound:
                dist.send(w, group=group, group_dst=r)
                waiting.remove(r)
        r = dist.recv(message, group=group)
        w = w - rate * message[1:].view(w.shape)
        if message[0]:
            clock[r] += 1
            waiting.append(r)
        else:
            del clock[r]
    return w
