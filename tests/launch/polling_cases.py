"""Ranks that ask ``is_completed()`` in a loop, on processes."""

import time

import torch
import torch.distributed as dist


def asks_in_a_circle(pause):
    r, K = dist.get_rank(), dist.get_world_size()
    work = dist.irecv(torch.ones(2), (r + 1) % K)
    while not work.is_completed():
        time.sleep(pause)
    dist.send(torch.ones(2), (r - 1) % K)


def asks_a_rank_that_has_returned():
    if dist.get_rank() == 1:
        work = dist.irecv(torch.ones(2), 0)
        while not work.is_completed():
            pass


def asks_while_the_others_wait():
    if dist.get_rank() == 1:
        work = dist.irecv(torch.ones(2), 0)
        while not work.is_completed():
            pass
    dist.barrier()


def asks_for_what_has_come():
    if dist.get_rank() == 0:
        dist.send(torch.ones(2), 1)
    if dist.get_rank() == 1:
        work = dist.irecv(torch.ones(2), 0)
        while not work.is_completed():
            pass


def asks_until_a_late_rank_comes(seconds):
    if dist.get_rank() == 0:
        time.sleep(seconds)
    work = dist.all_reduce(torch.ones(2), async_op=True)
    while not work.is_completed():
        pass
    return dist.get_rank()


def asks_and_then_computes(seconds):
    """It gives up asking, and nothing that torch does is to be seen for a while."""
    peer = 1 - dist.get_rank()
    incoming = dist.irecv(torch.ones(1), peer)
    for _ in range(1000):
        incoming.is_completed()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
    outgoing = dist.isend(torch.ones(1), peer)
    incoming.wait(), outgoing.wait()
    return dist.get_rank()


def asks_between_computations(seconds):
    peer, x = 1 - dist.get_rank(), torch.ones(4)
    incoming = dist.irecv(torch.ones(1), peer)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        incoming.is_completed()
        x = x + 1
    outgoing = dist.isend(torch.ones(1), peer)
    incoming.wait(), outgoing.wait()
    return dist.get_rank()
