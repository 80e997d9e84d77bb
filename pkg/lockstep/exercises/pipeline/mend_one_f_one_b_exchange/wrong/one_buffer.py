"""The learner thought: a tensor to receive into can be used again."""

MISCONCEPTION = "overwrites-what-is-kept"
TELL = "You receive every x into one tensor. forward keeps its x until the backward pass."

import torch
import torch.distributed as dist


def mend_one_f_one_b_exchange(forward, backward, micro_batches, shape, group=None):
    """What backward returned for each micro-batch."""
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    buffer = torch.empty(shape)

    def exchange(tensor, to, source):
        ops, got = [], None
        if tensor is not None and 0 <= to < p:
            ops.append(dist.P2POp(dist.isend, tensor, group=group, group_peer=to))
        if source is not None and 0 <= source < p:
            got = buffer
            ops.append(dist.P2POp(dist.irecv, got, group=group, group_peer=source))
        if ops:
            for work in dist.batch_isend_irecv(ops):
                work.wait()
        return got

    found = []
    for i in range(warm_up):
        x = exchange(None, None, s - 1)
        exchange(forward(i, x), s + 1, None)
    x = exchange(None, None, s - 1) if warm_up < micro_batches else None
    for i in range(warm_up, micro_batches):
        dy = exchange(forward(i, x), s + 1, s + 1)
        found.append(backward(i - warm_up, dy))
        x = exchange(found[-1], s - 1, s - 1 if i + 1 < micro_batches else None)
    for i in range(micro_batches - warm_up, micro_batches):
        dy = exchange(None, None, s + 1)
        found.append(backward(i, dy))
        exchange(found[-1], s - 1, None)
    return found
