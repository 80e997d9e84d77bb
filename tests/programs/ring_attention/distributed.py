"""The process group and what is asked of it again and again."""

import functools
import os

import torch
import torch.distributed as dist


def start():
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))


@functools.cache
def rank():
    return dist.get_rank()


@functools.cache
def world_size():
    return dist.get_world_size()


class Ring:
    """Sends tensors to the next rank and takes those of the previous one."""

    def __init__(self):
        self.next, self.previous = (rank() + 1) % world_size(), (rank() - 1) % world_size()

    def turn(self, *tensors):
        received = [torch.empty_like(t) for t in tensors]
        operations = [dist.P2POp(dist.isend, t, self.next) for t in tensors]
        operations += [dist.P2POp(dist.irecv, t, self.previous) for t in received]
        works = dist.batch_isend_irecv(operations)

        def wait():
            for work in works:
                work.wait()
            return received

        return wait
