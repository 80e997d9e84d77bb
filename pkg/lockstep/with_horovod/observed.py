"""A training script on one rank, observed: which rows each forward pass sees, what the model is then, what is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook

from lockstep.with_horovod.ranks import Session, joined
from lockstep.with_horovod.task import Network, flat, state, told_rows
from lockstep.with_horovod.timeline import Timeline, operations

Evidence = dict[str, Any]
MOST = 500  # forward passes that are noted


def observed(script: Callable[..., Any], arguments: tuple[Any, ...], horovod: bool = True) -> Evidence:
    """The script on this rank of Horovod (or of ``torch.distributed`` alone), as plain data:

        rows       of each forward pass that has a gradient, the rows that it saw, as numbers
        states     (passes, numbers): parameters and buffers before each
        returned   the same of the returned model; the name of its type, if it is no model
        saved      each checkpoint that was saved: "model", "momentum" and "rate"; or the name of its type
        carried    on rank 0, by Horovod's timeline: tensors that were all-reduced, and late broadcasts

    Random numbers differ from rank to rank, as in processes that were started apart.
    """
    torch.manual_seed(1 + dist.get_rank())
    saved: list[Any] = []
    with noted() as (rows, states), joined(timeline=True) if horovod else nullcontext(Session()) as session:
        returned = script(*arguments, lambda what: saved.append(_checkpoint(what)))
    model = state(returned) if isinstance(returned, nn.Module) else type(returned).__name__
    seen = torch.stack(states) if states else torch.zeros(0)
    return {"rows": rows, "states": seen, "returned": model, "saved": saved, "carried": _carried(session.timeline)}


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


def _carried(timeline: Timeline) -> dict[str, int] | None:
    """How many tensors were all-reduced, and how many broadcast after the first of these. None without a timeline."""
    done = [(operation.kind, len(operation.tensors)) for operation in operations(timeline)]
    kinds = [kind for kind, _ in done]
    begun = kinds.index("ALLREDUCE") if "ALLREDUCE" in kinds else len(done)
    told = {"all_reduces": sum(n for kind, n in done if kind == "ALLREDUCE")}
    return told | {"late_broadcasts": sum(n for kind, n in done[begun:] if kind == "BROADCAST")} if timeline else None
