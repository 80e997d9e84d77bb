"""Programs whose communication is known by hand."""

import threading
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.distributed.tensor.placement_types import Shard
from torch.nn.parallel import DistributedDataParallel

from lockstep.record import Recorder


def ones(n=1):
    return torch.ones(n)


def each(n, size=1):
    return [ones(size) for _ in range(n)]


def send():
    if dist.get_rank() == 0:
        dist.send(ones(5), 1, tag=7)
    elif dist.get_rank() == 1:
        dist.recv(ones(5), 0, tag=7)


def recv_from_any():
    if dist.get_rank() == 0:
        for _ in range(dist.get_world_size() - 1):
            dist.recv(ones(5))
    else:
        dist.send(ones(5), 0)


def batch():
    rank, world = dist.get_rank(), dist.get_world_size()
    ops = [dist.P2POp(dist.isend, ones(2), (rank + 1) % world), dist.P2POp(dist.irecv, ones(2), (rank - 1) % world)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()


def broadcast():
    dist.broadcast(ones(3), 1)


def reduce():
    dist.reduce(ones(3), 1)


def all_reduce():
    dist.all_reduce(ones(3))


def coalesced_all_reduce():
    with dist._coalescing_manager():
        dist.all_reduce(ones(3))
        dist.all_reduce(ones(4))


def scatter():
    dist.scatter(ones(3), each(dist.get_world_size(), 3) if dist.get_rank() == 1 else None, 1)


def gather():
    dist.gather(ones(3), each(dist.get_world_size(), 3) if dist.get_rank() == 1 else None, 1)


def all_gather():
    dist.all_gather(each(dist.get_world_size(), 3), ones(3))


def all_gather_into_tensor():
    dist.all_gather_into_tensor(ones(3 * dist.get_world_size()), ones(3))


def reduce_scatter():
    dist.reduce_scatter(ones(3), each(dist.get_world_size(), 3))


def reduce_scatter_tensor():
    dist.reduce_scatter_tensor(ones(3), ones(3 * dist.get_world_size()))


def all_to_all():
    dist.all_to_all(each(dist.get_world_size(), 3), each(dist.get_world_size(), 3))


def all_to_all_single():
    dist.all_to_all_single(ones(3 * dist.get_world_size()), ones(3 * dist.get_world_size()))


def uneven_all_to_all_single():
    """Rank 0 gets two elements of each, every other rank one."""
    rank, world = dist.get_rank(), dist.get_world_size()
    mine = 2 if rank == 0 else 1
    dist.all_to_all_single(ones(mine * world), ones(world + 1), [mine] * world, [2] + [1] * (world - 1))


def barrier():
    dist.barrier()


def monitored_barrier():
    dist.monitored_barrier()


def functional_ones():
    world = dist.group.WORLD
    n = dist.get_world_size()
    functional.all_reduce(ones(3), "sum", world).sum()
    functional.all_gather_tensor(ones(3), 0, world).sum()
    functional.reduce_scatter_tensor(ones(3 * n), "sum", 0, world).sum()
    functional.broadcast(ones(3), 1, world).sum()
    functional.all_to_all_single(ones(n), [1] * n, [1] * n, world).sum()
    functional.all_gather_into_tensor_coalesced([ones(1), ones(2)], world)[1].sum()


def all_gather_object():
    dist.all_gather_object([None] * dist.get_world_size(), "x" * dist.get_rank())


def gather_object():
    dist.gather_object("x", [None] * dist.get_world_size() if dist.get_rank() == 1 else None, 1)


def broadcast_object_list():
    dist.broadcast_object_list(["a", "b"], 1)


def scatter_object_list():
    dist.scatter_object_list([None], ["a"] * dist.get_world_size() if dist.get_rank() == 1 else None, 1)


def send_object_list():
    if dist.get_rank() == 0:
        dist.send_object_list(["a", "b"], 1)
    elif dist.get_rank() == 1:
        dist.recv_object_list([None, None], 0)


def in_a_group():
    group = dist.new_group([1, 2])
    if dist.get_rank() in (1, 2):
        dist.broadcast(ones(2), 2, group=group)
        if dist.get_rank() == 1:
            dist.send(ones(4), 2, group=group)
        else:
            dist.recv(ones(4), 1, group=group)


def async_overlap():
    x = ones(4)
    dist.barrier()
    if dist.get_rank() == 1:
        time.sleep(0.2)
    work = dist.all_reduce(x, async_op=True)
    if dist.get_rank() == 0:
        time.sleep(0.4)
    work.wait()


def late_recv():
    dist.barrier()
    if dist.get_rank() == 0:
        dist.send(ones(4), 1)
    if dist.get_rank() == 1:
        time.sleep(0.2)
        dist.recv(ones(4), 0)


def ddp():
    model = DistributedDataParallel(torch.nn.Linear(10, 3))
    model(ones(10)).sum().backward()


def fsdp():
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    model = fully_shard(torch.nn.Linear(12, 12, bias=False), mesh=mesh)
    model(torch.ones(2, 12)).sum().backward()


def tensor_parallel():
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    model = torch.nn.Sequential(torch.nn.Linear(4, 12, bias=False), torch.nn.Linear(12, 4, bias=False))
    model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "1": RowwiseParallel()})
    model(torch.ones(2, 4)).sum()


def dtensor():
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    distribute_tensor(torch.ones(6, 2), mesh, [Shard(0)]).full_tensor()


def hidden():
    """Attempts to communicate unseen."""
    all_reduce = dist.all_reduce
    dist.all_reduce = None
    try:
        all_reduce(ones(3))
        dist.group.WORLD.allreduce([ones(3)]).wait()
    finally:
        dist.all_reduce = all_reduce
    thread = threading.Thread(target=dist.all_reduce, args=(ones(3),))
    thread.start()
    thread.join()


def reductions():
    """Under a Recorder of its own: the reduction of each collective, in order."""
    x, y = torch.ones(2), torch.ones(2 * dist.get_world_size())
    with Recorder(dist.get_rank(), 0.0) as recorder:
        dist.all_reduce(x, dist.ReduceOp.MAX)
        dist.all_reduce(x)
        dist.reduce(x, 0, dist.ReduceOp.PRODUCT)
        dist.reduce_scatter_tensor(x, y, dist.ReduceOp.MIN)
        dist.reduce_scatter(x, list(y.chunk(dist.get_world_size())))
        functional.all_reduce(x, "max", dist.group.WORLD).sum()
        dist.broadcast(x, 0)
        plain = [o.reduction for o in recorder.operations]
        model = DistributedDataParallel(torch.nn.Linear(2, 2))
        model(x).sum().backward()
        in_backward = {o.reduction for o in recorder.operations[len(plain) :] if o.kind == "all_reduce"}
    return plain, in_backward


def after_a_recorder():
    """Communication before, within and after a recorder, by whatever torch.distributed calls below."""
    x = torch.ones(1)
    dist.all_reduce(x)
    with Recorder(dist.get_rank(), 0.0):
        dist.all_reduce(x)
    dist.all_reduce(x)
    dist.group.WORLD.allreduce([x]).wait()
    return x.item()
