"""Functional collectives in runs without data.

``dist.all_reduce`` and the like call the rank's process group, with fake tensors as with others. But
``torch.distributed._functional_collectives`` and DTensor use dispatcher operators (``_c10d_functional``), which under a
fake mode only compute the shape of the result and never reach a group. Here each of them is forwarded to the group, as
in torch's Functional.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import AllreduceOptions, BroadcastOptions, ReduceScatterOptions
from torch.distributed._functional_collectives import AsyncCollectiveTensor

Post = Callable[[Any, Any, dict[str, Any]], Any]  # (group, the operator's result, its arguments by name) → Work


def all_reduce(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.allreduce([out], options(AllreduceOptions(), given))


def all_reduce_coalesced(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.allreduce_coalesced(out, options(AllreduceOptions(), given))


def all_gather(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.all_gather_single(out, given["input"])


def all_gather_coalesced(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.all_gather_single_coalesced(out, given["inputs"])


def reduce_scatter(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.reduce_scatter_single(out, given["input"], options(ReduceScatterOptions(), given))


def reduce_scatter_coalesced(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.reduce_scatter_single_coalesced(out, given["inputs"], options(ReduceScatterOptions(), given))


def all_to_all(group: Any, out: Any, given: dict[str, Any]) -> Any:
    return group.all_to_all_single(out, given["input"], given["output_split_sizes"], given["input_split_sizes"])


def broadcast(group: Any, out: Any, given: dict[str, Any]) -> Any:
    choice = BroadcastOptions()
    choice.rootRank = given["src"]
    return group.broadcast([out], choice)


POSTS: dict[str, Post] = {
    "all_reduce": all_reduce,
    "all_reduce_": all_reduce,
    "all_reduce_coalesced": all_reduce_coalesced,
    "all_reduce_coalesced_": all_reduce_coalesced,
    "all_gather_into_tensor": all_gather,
    "all_gather_into_tensor_out": all_gather,
    "all_gather_into_tensor_coalesced": all_gather_coalesced,
    "reduce_scatter_tensor": reduce_scatter,
    "reduce_scatter_tensor_out": reduce_scatter,
    "reduce_scatter_tensor_coalesced": reduce_scatter_coalesced,
    "all_to_all_single": all_to_all,
    "broadcast": broadcast,
    "broadcast_": broadcast,
}


class Traffic:
    """Executes one rank's functional collectives, and remembers those that it has not waited for."""

    def __init__(self) -> None:
        self._pending: dict[int, Any] = {}  # by the storage of a result: its Work

    def carry(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        name = func._schema.name.split("::")[1]
        given = {a.name: value for a, value in zip(func._schema.arguments, args, strict=False)} | kwargs
        if name == "wait_tensor":
            return self._wait(given["tensor"])
        if name == "_wrap_tensor_autograd":
            return AsyncCollectiveTensor(given["input"])
        if name not in POSTS:
            raise NotImplementedError(f"a fake run cannot carry out {name}")
        out = target(name, given)
        if out is None:
            out = func(*args, **kwargs)
        work = POSTS[name](group_of(given), out, given)
        for tensor in out if isinstance(out, list) else [out]:
            self._pending[tensor.untyped_storage()._cdata] = work
        return out

    def _wait(self, tensor: torch.Tensor) -> torch.Tensor:
        work = self._pending.pop(tensor.untyped_storage()._cdata, None)
        if work is not None:
            work.wait()
        return tensor


def target(name: str, given: dict[str, Any]) -> Any:
    """The tensors that an in-place or out= operator writes; None for one that returns new ones."""
    if name.endswith("_out"):
        return given["out"]
    return given.get("inputs", given.get("input")) if name.endswith("_") else None


def group_of(given: dict[str, Any]) -> Any:
    name = given["group_name"]
    if isinstance(name, str):
        return torch._C._distributed_c10d._resolve_process_group(name)  # type: ignore[arg-type]
    return name


def options(choice: Any, given: dict[str, Any]) -> Any:
    choice.reduceOp = getattr(dist.ReduceOp, given["reduce_op"].upper())
    return choice
