"""The learner thought: if all F come first, nothing crosses."""

MISCONCEPTION = "another-order"
TELL = "You call all forward passes first. That is GPipe: a stage then keeps all micro-batches."


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

    found = []
    for i in range(micro_batches):
        send(forward(i, receive(s - 1)), s + 1)
    for i in range(micro_batches):
        found.append(backward(i, receive(s + 1)))
        send(found[-1], s - 1)
    return found
