"""Programs that cannot go on, each for one reason that has a sentence of its own."""

import torch
import torch.distributed as dist

K = 3  # ranks


def rank():
    return dist.get_rank()


def blocking_sends():
    x = torch.ones(2)
    dist.send(x, (rank() + 1) % K)
    dist.recv(x, (rank() - 1) % K)


def receives_first():
    dist.recv(torch.ones(2), (rank() + 1) % K)


def receives_from_any():
    dist.recv(torch.ones(2))


def another_tag():
    x = torch.ones(2)
    if rank() == 0:
        dist.send(x, 1, tag=4)
    if rank() == 1:
        dist.recv(x, 0, tag=5)


def another_peer():
    x = torch.ones(2)
    if rank() == 0:
        dist.send(x, 1)
    if rank() == 2:
        dist.recv(x, 0)


def to_itself():
    if rank() == 1:
        dist.send(torch.ones(2), 1)


def collectives_in_another_order():
    x = torch.ones(2)
    if rank() == 2:
        dist.broadcast(x, 0)
        dist.all_reduce(x)
    else:
        dist.all_reduce(x)
        dist.broadcast(x, 0)


def a_skipped_collective():
    if rank() != 1:
        dist.barrier()


def a_skipped_collective_among_others():
    x = torch.ones(2)
    dist.all_reduce(x)
    if rank() != 1:
        dist.all_reduce(x)
    dist.broadcast(x, 0)


def a_rank_that_left():
    x = torch.ones(2)
    if rank() == 2:
        return
    dist.all_reduce(x)


def the_wrong_group():
    low, high = dist.new_group([0, 1]), dist.new_group([1, 2])
    x = torch.ones(2)
    if rank() == 0:
        dist.all_reduce(x, group=low)
    else:
        dist.all_reduce(x, group=high)


def only_a_part_of_the_world():
    group = dist.new_group([0, 1])
    x = torch.ones(2)
    if rank() == 0:
        dist.all_reduce(x, group=group)
    else:
        dist.all_reduce(x)


def a_wait_for_what_was_never_sent():
    if rank() == 0:
        dist.irecv(torch.ones(2), 1).wait()


def other_shapes():
    dist.all_reduce(torch.ones(3 if rank() == 2 else 2))


def other_dtypes():
    dist.all_reduce(torch.ones(2, dtype=torch.float64 if rank() == 1 else torch.float32))


def other_roots():
    dist.broadcast(torch.ones(2), 1 if rank() == 2 else 0)


def other_reductions():
    dist.all_reduce(torch.ones(2), dist.ReduceOp.MAX if rank() == 1 else dist.ReduceOp.SUM)


def other_reductions_on_a_root():
    dist.reduce(torch.ones(2), 0, dist.ReduceOp.MIN if rank() == 2 else dist.ReduceOp.SUM)


def other_reductions_of_a_scatter():
    operation = dist.ReduceOp.PRODUCT if rank() == 0 else dist.ReduceOp.SUM
    dist.reduce_scatter_tensor(torch.ones(2), torch.ones(2 * K), operation)


def other_collectives():
    x = torch.ones(2)
    dist.broadcast(x, 0) if rank() == 0 else dist.all_reduce(x)


def a_message_of_another_size():
    if rank() == 0:
        dist.send(torch.ones(4), 1)
    if rank() == 1:
        dist.recv(torch.ones(2), 0)


def a_message_of_another_dtype():
    if rank() == 0:
        dist.send(torch.ones(4), 2)
    if rank() == 2:
        dist.recv(torch.ones(4, dtype=torch.int64), 0)


def a_message_that_nobody_takes():
    if rank() == 0:
        dist.isend(torch.ones(4), 1)


def a_receive_that_nobody_serves():
    if rank() == 1:
        dist.irecv(torch.ones(4), 0)


def a_collective_that_others_never_join():
    if rank() == 1:
        dist.all_reduce(torch.ones(2), async_op=True)


def raises():
    if rank() == 1:
        raise ValueError("mine")
    dist.barrier()


PROGRAMS = [f for f in list(globals().values()) if callable(f) and f is not rank]
