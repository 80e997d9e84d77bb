"""The learner thought: the message that says done is only a goodbye."""

import torch
import torch.distributed as dist

MISCONCEPTION = "updates"
TELL = "What a worker sends last is a gradient, too."


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
    waiting, message = list(clock), w.new_empty(w.numel() + 1)
    while clock:
        for r in list(waiting):
            if clock[r] <= min(clock.values()) + bound:
                dist.send(w, r, group=group)
                waiting.remove(r)
        r = dist.recv(message, group=group)
        if message[0]:
            w = w - rate * message[1:].view(w.shape)
            clock[r] += 1
            waiting.append(r)
        else:
            del clock[r]
    return w
