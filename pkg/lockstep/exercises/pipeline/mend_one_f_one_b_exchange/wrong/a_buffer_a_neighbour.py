"""The learner thought: what comes from one stage fits into one buffer."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-values"


def mend_one_f_one_b_exchange(forward, backward, micro_batches, shape, group=None):
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    buffers = {}

    def exchange(tensor, to, source):
        operations, got = [], None
        if tensor is not None and 0 <= to < p:
            operations.append(dist.P2POp(dist.isend, tensor, group=group, group_peer=to))
        if source is not None and 0 <= source < p:
            got = buffers.setdefault(source, torch.empty(shape))
            operations.append(dist.P2POp(dist.irecv, got, group=group, group_peer=source))
        if operations:
            for work in dist.batch_isend_irecv(operations):
                work.wait()
        return got

    found = []
    for i in range(warm_up):
        exchange(forward(i, exchange(None, 0, s - 1)), s + 1, None)
    x = exchange(None, 0, s - 1) if warm_up < micro_batches else None
    for i in range(warm_up, micro_batches):
        dy = exchange(forward(i, x), s + 1, s + 1)
        found.append(backward(i - warm_up, dy))
        last = i == micro_batches - 1
        x = exchange(found[-1], s - 1, None if last else s - 1)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, exchange(None, 0, s + 1)))
        exchange(found[-1], s - 1, None)
    return found
