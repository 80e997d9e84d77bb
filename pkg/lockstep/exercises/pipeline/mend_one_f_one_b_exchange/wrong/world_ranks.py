"""The learner thought: stage s + 1 is rank s + 1."""

MISCONCEPTION = "ignores-group"


import torch
import torch.distributed as dist


def mend_one_f_one_b_exchange(forward, backward, micro_batches, shape, group=None):
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    def exchange(tensor, to, source):
        batch, received = [], None
        if tensor is not None and 0 <= to < p:
            batch.append(dist.P2POp(dist.isend, tensor, group=group, peer=to))
        if 0 <= source < p:
            received = torch.empty(shape)
            batch.append(dist.P2POp(dist.irecv, received, group=group, peer=source))
        if batch:
            for work in dist.batch_isend_irecv(batch):
                work.wait()
        return received

    found = []
    for i in range(warm_up):
        exchange(forward(i, exchange(None, -1, s - 1)), s + 1, -1)
    x = exchange(None, -1, s - 1) if warm_up < micro_batches else None
    for i in range(warm_up, micro_batches):
        dy = exchange(forward(i, x), s + 1, s + 1)
        found.append(backward(i - warm_up, dy))
        x = exchange(found[-1], s - 1, s - 1 if i + 1 < micro_batches else -1)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, exchange(None, -1, s + 1)))
        exchange(found[-1], s - 1, -1)
    return found
