"""Sets of what each rank has ready; all-reduces of one cycle at the same time; none where there is one rank."""

import itertools

import torch.distributed as dist


def negotiate(cycles, group=None):
    """The names in the order in which all ranks summed their tensors, each as soon as it was ready everywhere."""
    size = dist.get_world_size(group)
    rank = dist.get_rank(group)
    if size == 1:
        return list(itertools.chain.from_iterable(cycles))

    everything = {}
    ready_on = [set() for _ in range(size)]
    summed = []
    box = [[]]
    while box[0] is not None:
        cycle = next(cycles, None)
        said = [None] * size if rank == 0 else None
        if cycle is not None:
            everything.update(cycle)
            cycle = set(cycle)
        dist.gather_object(cycle, said, group=group, group_dst=0)

        box = [None]
        if rank == 0 and said != [None] * size:
            for have, new in zip(ready_on, said):
                have.update(new or ())
            box = [sorted(set.intersection(*ready_on).difference(summed))]
        dist.broadcast_object_list(box, group=group, group_src=0)

        works = [dist.all_reduce(everything[name], group=group, async_op=True) for name in box[0] or []]
        for work in works:
            work.wait()
        summed.extend(box[0] or [])
    return summed
