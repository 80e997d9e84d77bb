"""The learner thought: pull, get, push: three messages."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-all-messages"
TELL = "A worker need not ask for w: that it is ready to go on is said by its gradient."


def parameter_server(gradient, w, steps, rate, bound, group=None):
    if dist.get_rank(group) > 0:
        nothing = torch.zeros(w.numel() + 1, dtype=w.dtype)
        for step in range(steps):
            dist.send(nothing, group=group, group_dst=0)
            w = torch.empty_like(w)
            dist.recv(w, group=group, group_src=0)
            dist.send(torch.cat([w.new_ones(1), gradient(w, step).flatten()]), group=group, group_dst=0)
        dist.send(nothing - 1, group=group, group_dst=0)
        return w
    clock = {r: 0 for r in dist.get_process_group_ranks(group or dist.group.WORLD)[1:]}
    waiting, message = [], w.new_empty(w.numel() + 1)
    while clock:
        r = dist.recv(message, group=group)
        if message[0] < 0:
            del clock[r]
        elif message[0] == 0:
            waiting.append(r)
        else:
            w = w - rate * message[1:].view(w.shape)
            clock[r] += 1
        for r in list(waiting):
            if clock[r] <= min(clock.values()) + bound:
                dist.send(w, r, group=group)
                waiting.remove(r)
    return w
