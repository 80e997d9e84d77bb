"""A training script on one rank, observed: which rows each forward pass sees, what the model is then, what is saved."""

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
MOST = 500  # forward passes that are noted


def observed(script: Callable[..., Any], arguments: tuple[Any, ...], horovod: bool = True) -> Evidence:
    """The script on this rank of Horovod (or of ``torch.distributed`` alone), as plain data:

        rows       of each forward pass that has a gradient, the rows that it saw, as numbers
        states     (passes, numbers): parameters and buffers before each
        returned   the same of the returned model; the name of its type, if it is no model
        saved      each checkpoint that was saved: "model", "momentum" and "rate"; or the name of its type
        carried    by Horovod: how many numbers it "reduced", and "late_broadcasts", after the first all-reduce
        shut_down  whether the script has shut Horovod down

    Random numbers differ from rank to rank, as in processes that were started apart.
    """
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
    """Within, Horovod alone knows of ranks. A DistributedSampler that is not told how many there are asks
    ``torch.distributed``, which nobody has started in a script of Horovod's."""
    with joined(), patch.object(torch.utils.data.distributed, "dist", SimpleNamespace(
        is_available=lambda: True, get_world_size=_not_started, get_rank=_not_started
    )):  # fmt: skip
        yield


def _not_started() -> int:
    """As torch says it."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def _initialized() -> bool:
    import horovod.torch as hvd

    return bool(hvd.is_initialized())


@contextmanager
def noted() -> Iterator[tuple[list[list[int]], list[Tensor]]]:
    """What forward passes of any `Network` see and are, within. The hook is torch's for all modules: it is no part of
    the model, so it stays behind when the model is copied, or broadcast as an object."""
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
    """A checkpoint as plain data, as it is now; of anything else the name of its type."""
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
    """What this rank asks of Horovod within: "allreduce" or "broadcast", and how many numbers. Horovod's timeline would
    tell that, too; but the thread that writes it never sleeps, and takes a core of the machine."""
    found: list[tuple[str, int]] = []
    with ExitStack() as undo:
        if available():
            import horovod.torch.mpi_ops as ops

            for name in ("_allreduce_async", "_grouped_allreduce_async", "_broadcast_async"):
                undo.enter_context(patch.object(ops, name, _noting(found, name, getattr(ops, name))))
        yield found


def _noting(found: list[tuple[str, int]], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    kind = "broadcast" if "broadcast" in name else "allreduce"

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
    }
