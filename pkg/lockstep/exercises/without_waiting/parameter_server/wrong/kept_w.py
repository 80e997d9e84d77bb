"""The learner thought: a worker that waits gets the w that its own gradient has made; I keep it for it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "old-w"
ALSO = ["bound"]


def parameter_server(gradient, w, steps, rate, bound, group=None):
    if dist.get_rank(group) > 0:
        for step in range(max(1, steps)):
            w = torch.empty_like(w)
            dist.recv(w, group=group, group_src=0)
            g = gradient(w, step) if steps else torch.zeros_like(w)
            more = torch.tensor([step + 1 < steps], dtype=w.dtype)
            dist.send(torch.cat([more, g.flatten()]), group=group, group_dst=0)
        return w
    clock = {r: 0 for r in dist.get_process_group_ranks(group or dist.group.WORLD)[1:]}
    waiting, message = dict.fromkeys(clock, w), w.new_empty(w.numel() + 1)
    while clock:
        for r in list(waiting):
            if clock[r] <= min(clock.values()) + bound:
                dist.send(waiting.pop(r), r, group=group)
        r = dist.recv(message, group=group)
        w = w - rate * message[1:].view(w.shape)
        if message[0]:
            clock[r] += 1
            waiting[r] = w
        else:
            del clock[r]
    return w
