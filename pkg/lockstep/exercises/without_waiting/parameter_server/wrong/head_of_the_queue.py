"""The learner thought: who waits longest is served first."""

import torch
import torch.distributed as dist

MISCONCEPTION = "needless-wait"
TELL = (
    "Only the first of those that wait is looked at: one behind it may have leave to go on. Look through all of them."
)


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
        while waiting and clock[waiting[0]] <= min(clock.values()) + bound:
            dist.send(w, waiting.pop(0), group=group)
        r = dist.recv(message, group=group)
        w = w - rate * message[1:].view(w.shape)
        if message[0]:
            clock[r] += 1
            waiting.append(r)
        else:
            del clock[r]
    return w
