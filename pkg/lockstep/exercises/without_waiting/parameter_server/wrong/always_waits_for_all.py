"""The learner thought: the server collects everybody's gradient, then sends w."""

import torch
import torch.distributed as dist

MISCONCEPTION = "needless-wait"
TELL = "The server answers nobody before it has a gradient of everybody: receive from whoever is first, and answer who may go on."


def parameter_server(gradient, w, steps, rate, bound, group=None):
    if dist.get_rank(group) > 0:
        for step in range(max(1, steps)):
            w = torch.empty_like(w)
            dist.recv(w, group=group, group_src=0)
            g = gradient(w, step) if steps else torch.zeros_like(w)
            more = torch.tensor([step + 1 < steps], dtype=w.dtype)
            dist.send(torch.cat([more, g.flatten()]), group=group, group_dst=0)
        return w
    workers = dist.get_process_group_ranks(group or dist.group.WORLD)[1:]
    message = w.new_empty(w.numel() + 1)
    while workers:
        for r in workers:
            dist.send(w, r, group=group)
        left, total = [], torch.zeros_like(w)
        for _ in workers:
            r = dist.recv(message, group=group)
            total += message[1:].view(w.shape)
            if message[0]:
                left.append(r)
        w, workers = w - rate * total, sorted(left)
    return w
