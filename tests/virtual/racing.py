"""Programs with a race: each is right by luck, or wrong, on real ranks. Two ranks; the value of rank 1 shows what came
of it."""

import torch
import torch.distributed as dist


def never_waited():
    x = torch.zeros(4)
    if dist.get_rank() == 0:
        dist.send(torch.ones(4), dst=1)
    else:
        dist.irecv(x, src=0)
    return x.sum().item()


def read_before_wait():
    x = torch.zeros(4)
    if dist.get_rank() == 0:
        dist.send(torch.ones(4), dst=1)
        return 0.0
    work = dist.irecv(x, src=0)
    total = x.sum()
    work.wait()
    return total.item()


def changed_while_sent():
    x, y = torch.ones(4), torch.zeros(4)
    if dist.get_rank() == 0:
        work = dist.isend(x, dst=1)
        x.zero_()
        work.wait()
    else:
        dist.recv(y, src=0)
    return y.sum().item()


def used_while_reduced():
    x = torch.ones(4)
    work = dist.all_reduce(x, async_op=True)
    total = x.sum()
    work.wait()
    return total.item()


# What rank 1 may return on real ranks: from what was there before to what there is at the end, or some of each. (An
# all-reduce of four ones on two ranks was seen at 6.)
RACES = {
    never_waited: (0.0, 4.0),
    read_before_wait: (0.0, 4.0),
    changed_while_sent: (0.0, 4.0),
    used_while_reduced: (4.0, 8.0),
}
