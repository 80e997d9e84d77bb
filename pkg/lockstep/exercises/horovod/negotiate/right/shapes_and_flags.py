"""Requests with shapes and dtypes, as Horovod's are; each rank says whether it goes on, rank 0 answers whether all
have ended. All-reduces of a cycle are started one after the other, and then waited for."""

import torch.distributed as dist


def negotiate(cycles, group=None):
    K = dist.get_world_size(group)
    root = dist.get_global_rank(group, 0) if group else 0
    mine, table, order, running = {}, {}, [], True
    while running:
        new = next(cycles, None)
        mine |= new or {}
        request = new is not None, [(name, tuple(t.shape), str(t.dtype)) for name, t in (new or {}).items()]
        requests = [None] * K if dist.get_rank() == root else None
        dist.gather_object(request, requests, dst=root, group=group)
        answer = [[], True]
        if requests:
            for r, (_, wanted) in enumerate(requests):
                for name, *kind in wanted:
                    table.setdefault(name, {})[r] = kind
            answer = [[n for n in table if len(table[n]) == K], any(going for going, _ in requests)]
            for name in answer[0]:
                del table[name]
        dist.broadcast_object_list(answer, src=root, group=group)
        names, running = answer
        works = [dist.all_reduce(mine.pop(name), group=group, async_op=True) for name in names]
        for work in works:
            work.wait()
        order += names
    return order
