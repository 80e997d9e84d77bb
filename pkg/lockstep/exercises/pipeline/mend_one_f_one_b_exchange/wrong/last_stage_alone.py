"""The learner thought: one of the two has to post a batch, the other may go on as before."""

MISCONCEPTION = "crashed:Deadlock"


import torch
import torch.distributed as dist


def mend_one_f_one_b_exchange(forward, backward, micro_batches, shape, group=None):
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    def receive(stage):
        if 0 <= stage < p:
            tensor = torch.empty(shape)
            dist.recv(tensor, group=group, group_src=stage)
            return tensor

    def send(tensor, stage):
        if 0 <= stage < p:
            dist.send(tensor, group=group, group_dst=stage)

    def exchange(tensor, to, source):
        batch, received = [], None
        if tensor is not None and 0 <= to < p:
            batch.append(dist.P2POp(dist.isend, tensor, group=group, group_peer=to))
        if 0 <= source < p:
            received = torch.empty(shape)
            batch.append(dist.P2POp(dist.irecv, received, group=group, group_peer=source))
        if batch:
            for work in dist.batch_isend_irecv(batch):
                work.wait()
        return received

    found = []
    if s == p - 1:
        x = receive(s - 1)
        for i in range(micro_batches):
            found.append(backward(i, None) if not forward(i, x) is None else None)
            x = exchange(found[-1], s - 1, s - 1 if i + 1 < micro_batches else -1)
        return found
    for i in range(warm_up):
        send(forward(i, receive(s - 1)), s + 1)
    for i in range(warm_up, micro_batches):
        send(forward(i, receive(s - 1)), s + 1)
        found.append(backward(i - warm_up, receive(s + 1)))
        send(found[-1], s - 1)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, receive(s + 1)))
        send(found[-1], s - 1)
    return found
