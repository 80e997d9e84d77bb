"""Pickled names by send and recv; a rank that has no more cycles says so once, and rank 0 no longer asks it."""

import pickle

import torch
import torch.distributed as dist


def say(value, to, group):
    data = torch.frombuffer(bytearray(pickle.dumps(value)), dtype=torch.uint8)
    dist.send(torch.tensor([len(data)]), group=group, group_dst=to)
    dist.send(data, group=group, group_dst=to)


def hear(source, group):
    length = torch.empty(1, dtype=torch.int64)
    dist.recv(length, group=group, group_src=source)
    data = torch.empty(int(length), dtype=torch.uint8)
    dist.recv(data, group=group, group_src=source)
    return pickle.loads(bytes(data.tolist()))


def negotiate(cycles, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    mine, order, have = {}, [], {}
    active = set(range(K))  # on rank 0
    while True:
        new = next(cycles, None)
        mine.update(new or {})
        names = None if new is None else list(new)
        if rank:
            if names is not None or 0 in active:
                say(names, 0, group)
            if names is None:
                active.discard(0)
            answer, go_on = hear(0, group)
        else:
            for r in sorted(active):
                told = names if r == 0 else hear(r, group)
                if told is None:
                    active.discard(r)
                for name in told or []:
                    have.setdefault(name, set()).add(r)
            answer = [name for name in have if len(have[name]) == K]
            have = {name: ranks for name, ranks in have.items() if name not in answer}
            go_on = bool(active)
            for r in range(1, K):
                say((answer, go_on), r, group)
        for name in answer:
            dist.all_reduce(mine[name], group=group)
        order += answer
        if not go_on:
            return order
