"""What learners do with Horovod, right and wrong: programs of ranks."""

import os
import time
from typing import Any

import torch


def in_different_orders() -> None:
    import horovod.torch as hvd

    for name in ("b", "a") if hvd.rank() == 1 else ("a", "b"):
        hvd.allreduce(torch.ones(3), name=name)


def in_different_orders_at_once() -> list[float]:
    import horovod.torch as hvd

    names = ("b", "a") if hvd.rank() == 1 else ("a", "b")
    handles = {name: hvd.allreduce_async(torch.full((2,), float(ord(name))), name=name) for name in names}
    return [float(hvd.synchronize(handles[name])[0]) for name in names]


def numbered_differently() -> None:
    import horovod.torch as hvd

    if hvd.rank() == 1:
        hvd.broadcast_async(torch.ones(2), 0)
    hvd.allreduce(torch.ones(3))


def one_returns() -> None:
    import horovod.torch as hvd

    if hvd.rank() != 1:
        hvd.allreduce(torch.ones(3), name="late")


def one_is_slow(seconds: float) -> float:
    import horovod.torch as hvd

    if hvd.rank() == 1:
        time.sleep(seconds)
    return float(hvd.allreduce(torch.full((1,), float(hvd.rank())), op=hvd.Sum)[0])


def one_never_comes() -> None:
    import horovod.torch as hvd

    if hvd.rank() == 1:
        while True:
            pass
    if hvd.rank() == 0:
        hvd.allreduce(torch.ones(3))


def one_raises() -> None:
    import horovod.torch as hvd

    if hvd.rank() == 1:
        raise ValueError("no data")
    hvd.allreduce(torch.ones(3), name="loss")


def of_different_shapes() -> None:
    import horovod.torch as hvd

    hvd.allreduce(torch.ones(3 + hvd.rank() % 2), name="grad")


def one_name_twice() -> None:
    import horovod.torch as hvd

    if hvd.rank() == 1:
        hvd.barrier()  # until then nothing is reduced
    first = hvd.allreduce_async(torch.ones(2), name="x")
    second = hvd.allreduce_async(torch.ones(2), name="x")
    hvd.barrier()
    hvd.synchronize(first)
    hvd.synchronize(second)


def one_shuts_down() -> None:
    import horovod.torch as hvd

    if hvd.rank() == 1:
        hvd.shutdown()
    else:
        hvd.allreduce(torch.ones(2), name="x")


def one_has_shut_down_long_ago() -> None:
    """Rank 1 is done with all when rank 0 calls."""
    import horovod.torch as hvd

    if hvd.rank() == 1:
        hvd.shutdown()
    else:
        time.sleep(0.7)
        hvd.allreduce(torch.ones(2), name="x")


def on_a_process_set() -> None:
    """Rank 2 takes no part, and waits for all."""
    import horovod.torch as hvd

    even = hvd.add_process_set([0, 1])
    if hvd.rank() == 0:
        hvd.allreduce(torch.ones(2), name="x", process_set=even)
    hvd.barrier()


def place() -> dict[str, int]:
    import horovod.torch as hvd

    names = ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
    return {name: getattr(hvd, name)() for name in names}


def settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("HOROVOD_")}


def every_operation() -> dict[str, Any]:
    """On three ranks."""
    import horovod.torch as hvd

    rank = hvd.rank()
    even = hvd.add_process_set([0, 2])
    mine = torch.tensor([float(rank)])
    got: dict[str, Any] = {
        "sum": hvd.allreduce(mine, op=hvd.Sum, name="all").tolist(),
        "among the even": hvd.allreduce(mine, op=hvd.Sum, name="even", process_set=even).tolist() if rank != 1 else [],
        "fp16": hvd.allreduce(torch.tensor([1.0, 1e-9, 1e5]), name="half", compression=hvd.Compression.fp16).tolist(),
        "gathered": hvd.allgather(torch.full((rank + 1,), float(rank)), name="lengths").tolist(),
        "from 2": hvd.broadcast(mine, root_rank=2, name="root").tolist(),
        "pieces": hvd.alltoall(torch.arange(3.0) + 10 * rank, name="pieces").tolist(),
        "mine": hvd.reducescatter(torch.arange(3.0), op=hvd.Sum, name="mine").tolist(),
        "group": [t.tolist() for t in hvd.grouped_allreduce([mine, 2 * mine], op=hvd.Sum, name="group")],
        "object": hvd.broadcast_object({"step": 7} if rank == 0 else None, root_rank=0, name="object"),
    }
    hvd.barrier()
    got["uneven"] = [hvd.allreduce(torch.ones(1), op=hvd.Sum, name=f"step {n}").item() for n in range(rank + 1)]
    got["last"] = hvd.join()
    return got


def a_whole_script() -> float:
    """As it would be started by horovodrun."""
    import horovod.torch as hvd

    hvd.init()
    total = float(hvd.allreduce(torch.ones(1), op=hvd.Sum, name="one"))
    hvd.shutdown()
    return total
