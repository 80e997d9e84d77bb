"""The learner thought: whether there is more is a message of its own."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-all-messages"
TELL = "Whether there is more can travel in one message with the gradient."


def parameter_server(gradient, w, steps, rate, bound, group=None):
    if dist.get_rank(group) > 0:
        for step in range(max(1, steps)):
            w = torch.empty_like(w)
            dist.recv(w, group=group, group_src=0)
            g = gradient(w, step) if steps else torch.zeros_like(w)
            more = torch.tensor([step + 1 < steps], dtype=w.dtype)
            dist.send(more, group=group, group_dst=0)
            dist.send(g, group=group, group_dst=0)
        return w
    clock = {r: 0 for r in dist.get_process_group_ranks(group or dist.group.WORLD)[1:]}
    waiting, more, g = list(clock), w.new_empty(1), torch.empty_like(w)
    while clock:
        for r in list(waiting):
            if clock[r] <= min(clock.values()) + bound:
                dist.send(w, r, group=group)
                waiting.remove(r)
        r = dist.recv(more, group=group)
        dist.recv(g, r, group=group)
        w = w - rate * g
        if more:
            clock[r] += 1
            waiting.append(r)
        else:
            del clock[r]
    return w
