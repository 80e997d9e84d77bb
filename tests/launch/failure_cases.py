"""What learners' functions do wrong, each once."""

import ctypes
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.nn.parallel import DistributedDataParallel


def good():
    x = torch.ones(3)
    dist.all_reduce(x)
    return x[0].item()


def good_with_large_values():
    return good(), torch.ones(2_000_000)


def raise_on_one():
    if dist.get_rank() == 2:
        raise ValueError("bad shape in my_all_reduce")
    dist.all_reduce(torch.ones(3))


def raise_on_all():
    return 1 / 0


def raise_after_peers_wait_long():
    if dist.get_rank() == 0:
        time.sleep(0.4)
        raise KeyError("late")
    dist.barrier()


def different_collectives():
    x = torch.ones(3)
    if dist.get_rank() == 0:
        dist.broadcast(x, 0)
    else:
        dist.all_reduce(x)


def different_shapes():
    x = torch.ones(3 if dist.get_rank() else 5)
    dist.all_reduce(x)
    return x.tolist()


def different_large_shapes():
    x = torch.ones(1000 if dist.get_rank() else 500_000)
    dist.all_reduce(x)


def different_dtypes():
    x = torch.ones(4, dtype=torch.float32 if dist.get_rank() else torch.float64)
    dist.all_reduce(x)


def different_roots():
    dist.broadcast(torch.ones(2), dist.get_rank() % 2)


def uneven_all_gather():
    dist.all_gather([torch.ones(2) for _ in range(4)], torch.ones(1 if dist.get_rank() else 2))


def too_small_a_buffer():
    if dist.get_rank() == 0:
        dist.send(torch.ones(8), 1)
    if dist.get_rank() == 1:
        dist.recv(torch.ones(4), 0)


def too_large_a_buffer():
    if dist.get_rank() == 0:
        dist.send(torch.ones(4), 1)
    if dist.get_rank() == 1:
        dist.recv(torch.ones(8), 0)


def one_skips_a_barrier():
    if dist.get_rank() != 3:
        dist.barrier()


def ring_of_sends():
    rank, world = dist.get_rank(), dist.get_world_size()
    x, y = torch.ones(3), torch.zeros(3)
    dist.send(x, (rank + 1) % world)
    dist.recv(y, (rank - 1) % world)


def recv_of_nothing():
    if dist.get_rank() == 1:
        dist.recv(torch.ones(3), 2, tag=5)


def recv_from_any():
    if dist.get_rank() == 1:
        dist.recv(torch.ones(3))


def wait_in_a_deep_recursion(depth=300):
    if depth:
        return wait_in_a_deep_recursion(depth - 1)
    return ring_of_sends()


def wait_inside_a_helper():
    def helper(work):
        work.wait()

    if dist.get_rank() == 0:
        helper(dist.irecv(torch.ones(3), 1))


def lost_isend():
    if dist.get_rank() == 0:
        dist.isend(torch.ones(3), 1)
    return "ok"


def lost_irecv():
    if dist.get_rank() == 0:
        dist.irecv(torch.ones(3), 1)


def collective_of_one():
    if dist.get_rank() == 0:
        dist.all_reduce(torch.ones(3), async_op=True)


def functional_deadlock():
    if dist.get_rank() == 0:
        return 0
    return functional.all_reduce(torch.ones(3), "sum", dist.group.WORLD).sum().item()


def ddp_deadlock():
    model = DistributedDataParallel(torch.nn.Linear(4, 4))
    loss = model(torch.randn(2, 4)).sum()
    if dist.get_rank():
        loss.backward()


def subgroup_deadlock():
    group = dist.new_group([1, 2])
    if dist.get_rank() == 2:
        dist.all_reduce(torch.ones(2), group=group)


def os_exit():
    if dist.get_rank() == 1:
        os._exit(3)
    dist.barrier()


def sys_exit():
    if dist.get_rank() == 1:
        sys.exit("bye")
    dist.barrier()


def segmentation_fault():
    if dist.get_rank() == 1:
        ctypes.string_at(0)
    dist.barrier()


def killed():
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)  # what the kernel does to a process that takes too much memory
    dist.barrier()


def stops_itself():
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    dist.barrier()


def killed_by_a_real_time_signal():
    if dist.get_rank() == 1:
        os.kill(os.getpid(), 40)
    dist.barrier()


def kills_its_fork_server():
    if dist.get_rank() == 1:
        os.kill(os.getppid(), signal.SIGKILL)
    dist.barrier()
    time.sleep(60)


def killed_before_a_ring():
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    ring_of_sends()


def endless_loop():
    while dist.get_rank() == 1:
        pass
    dist.barrier()


def endless_loop_in_c():
    if dist.get_rank() == 1:
        sum(iter(int, 1))
    dist.barrier()


def endless_polling():
    if dist.get_rank() == 1:
        work = dist.irecv(torch.ones(2), 0)
        while not work.is_completed():
            pass


def endless_ping_pong():
    x = torch.ones(1)
    while True:
        dist.all_reduce(x)


def swallow_everything():
    while True:
        try:
            time.sleep(1)
        except BaseException:
            continue


def sleeping_straggler(seconds):
    if dist.get_rank() == 1:
        time.sleep(seconds)
    return good()


def computing_straggler():
    if dist.get_rank() == 1:
        until = time.monotonic() + 1.7
        while time.monotonic() < until:
            torch.randn(300, 300) @ torch.randn(300, 300)
    return good()


def blocked_on_a_pipe():
    if dist.get_rank() == 1:
        read, write = os.pipe()
        if os.fork() == 0:
            time.sleep(1.7)
            os.write(write, b"x")
            os._exit(0)
        os.read(read, 1)
    return good()


def returns_a_lock():
    import threading

    return {"lock": threading.Lock()}


def raises_something_odd():
    class Odd(Exception):
        def __str__(self):
            return "odd"

        def __reduce__(self):
            raise TypeError("never")

    raise Odd


def prints_before_a_deadlock():
    print("about to wait")
    sys.stdout.write("without an end")
    dist.recv(torch.ones(1), (dist.get_rank() + 1) % dist.get_world_size())


def two_deadlock_after_some_traffic():
    x = torch.ones(4)
    dist.all_reduce(x)
    if dist.get_rank() < 2:
        dist.recv(x, 1 - dist.get_rank())
