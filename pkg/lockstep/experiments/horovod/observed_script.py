"""Observes a training script on one rank: which rows each forward pass sees, the model's state then, what is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
import torch.utils.data.distributed
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from lockstep.experiments.horovod.task import Network, flat, state, told_rows
from lockstep.with_horovod.available import available
from lockstep.with_horovod.ranks import joined

Evidence = dict[str, Any]
KINDS = {
    "_allreduce_async": "allreduce", "_grouped_allreduce_async": "allreduce", "_broadcast_async": "broadcast",
    "_allgather_async": "gather", "_grouped_allgather_async": "gather", "_alltoall_async": "gather",
    "_reducescatter_async": "gather", "_grouped_reducescatter_async": "gather",
}  # fmt: skip
MOST = 500  # forward passes that are noted


def observed(script: Callable[..., Any], arguments: tuple[Any, ...], horovod: bool = True) -> Evidence:
    """Run the script on this rank of Horovod (or of ``torch.distributed`` alone), and return as plain data:

        rows       of each forward pass that has a gradient, the rows that it saw, as numbers
        states     (passes, numbers): parameters and buffers before each
        returned   the same of the returned model; the name of its type, if it is no model
        saved      each checkpoint that was saved: "model", "momentum" and "rate"; or the name of its type
        carried    by Horovod: how many numbers it "reduced"; after the first all-reduce, the "late_broadcasts" and how
                   many numbers it "gathered"
        shut_down  whether the script has shut Horovod down

    Random numbers differ from rank to rank, as in processes that were started separately."""
    torch.manual_seed(1 + dist.get_rank())
    saved: list[Any] = []
    with noted() as (rows, states), asked() as of_horovod, alone() if horovod else nullcontext():
        returned = script(*arguments, lambda what: saved.append(_checkpoint(what)))
        shut_down = horovod and not _initialized()
    model = state(returned) if isinstance(returned, nn.Module) else type(returned).__name__
    seen = torch.stack(states) if states else torch.zeros(0)
    return {"rows": rows, "states": seen, "returned": model, "saved": saved, "carried": _carried(of_horovod),
            "shut_down": shut_down}  # fmt: skip


@contextmanager
def alone() -> Iterator[None]:
    """Context in which only Horovod knows of ranks: a DistributedSampler without ``num_replicas`` asks
    ``torch.distributed``, which is not initialised in a script that uses Horovod."""
    with joined(), patch.object(torch.utils.data.distributed, "dist", SimpleNamespace(
        is_available=lambda: True, get_world_size=_not_started, get_rank=_not_started
    )):  # fmt: skip
        yield


def _not_started() -> int:
    """Raises torch's own error."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def _initialized() -> bool:
    import horovod.torch as hvd

    return bool(hvd.is_initialized())


@contextmanager
def noted() -> Iterator[tuple[list[list[int]], list[Tensor]]]:
    """Context in which the inputs and the state of every `Network` are noted in each forward pass. The hook is torch's
    global one: it is no part of the model, so it is not copied or broadcast with it."""
    rows: list[list[int]] = []
    states: list[Tensor] = []

    def note(module: nn.Module, inputs: Any) -> None:
        if isinstance(module, Network) and torch.is_grad_enabled() and len(rows) < MOST:
            rows.append(told_rows(inputs[0]))
            states.append(state(module))

    hook = register_module_forward_pre_hook(note)
    try:
        yield rows, states
    finally:
        hook.remove()


def _checkpoint(given: Any) -> dict[str, Any] | str:
    """A checkpoint as plain data, as it is now; for anything else the name of its type."""
    try:
        optimizer = given["optimizer"]
        buffers = [of_one.get("momentum_buffer") for _, of_one in sorted(optimizer["state"].items())]
        momentum = [b for b in buffers if b is not None]
        return {
            "model": flat(list(given["model"].values())),
            "momentum": flat(momentum) if momentum else None,
            "rate": float(optimizer["param_groups"][0]["lr"]),
        }
    except (AttributeError, IndexError, KeyError, TypeError):
        keys = ", ".join(map(str, given)) if isinstance(given, Mapping) else ""
        return f"a dict of {keys}" if keys else f"of type {type(given).__name__}"


@contextmanager
def asked() -> Iterator[list[tuple[str, int]]]:
    """Context that notes what this rank requests from Horovod: "allreduce", "broadcast" or "gather" (or scatters, or
    exchanges), and how many numbers.
    Horovod's timeline would show that, too; but the thread that writes it never sleeps, and occupies a core."""
    found: list[tuple[str, int]] = []
    with ExitStack() as undo:
        if available():
            import horovod.torch.mpi_ops as ops

            for name in (name for name in KINDS if hasattr(ops, name)):
                undo.enter_context(patch.object(ops, name, _noting(found, name, getattr(ops, name))))
        yield found


def _noting(found: list[tuple[str, int]], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    kind = KINDS[name]

    def noting(tensors: Any, *more: Any, **named: Any) -> Any:
        found.append((kind, sum(t.numel() for t in tensors) if isinstance(tensors, (list, tuple)) else tensors.numel()))
        return function(tensors, *more, **named)

    return noting


def _carried(of_rank: list[tuple[str, int]]) -> dict[str, int]:
    kinds = [kind for kind, _ in of_rank]
    begun = kinds.index("allreduce") if "allreduce" in kinds else len(kinds)
    return {
        "reduced": sum(numbers for kind, numbers in of_rank if kind == "allreduce"),
        "late_broadcasts": kinds[begun:].count("broadcast"),
        "gathered": sum(numbers for kind, numbers in of_rank[begun:] if kind == "gather"),
    }
