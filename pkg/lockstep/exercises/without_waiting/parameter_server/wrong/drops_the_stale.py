"""The learner thought: what is more than bound updates old is thrown away."""

import torch
import torch.distributed as dist

MISCONCEPTION = "updates"
TELL = "Gradients that are too old are thrown away here. With bounded staleness none is: a worker that is ahead waits."


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
    waiting, sent, version, message = list(clock), {}, 0, w.new_empty(w.numel() + 1)
    while clock:
        for r in waiting:
            dist.send(w, r, group=group)
            sent[r] = version
        r = dist.recv(message, group=group)
        waiting = []
        if version - sent[r] <= bound:
            w = w - rate * message[1:].view(w.shape)
            version += 1
        if message[0]:
            waiting = [r]
        else:
            del clock[r]
    return w
