"""The arguments of a collective, as torch.distributed hands them to a process group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from lockstep.errors import UsageError
from lockstep.virtual.movement import REDUCTIONS, quietly


def detached(tensor: torch.Tensor) -> torch.Tensor:
    return quietly(torch.Tensor.detach)(tensor) if tensor.requires_grad else tensor


def check_contiguous(tensor: torch.Tensor) -> None:
    """As on gloo and NCCL: what travels must lie in one piece."""
    if not tensor.is_contiguous():
        shape = tuple(tensor.shape)
        raise ValueError(
            f"this tensor (shape {shape}) is not contiguous: send x.contiguous() instead; receive into a new tensor "
            "that is, and not into x.contiguous(), which would be a copy"
        )


def nbytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def split(tensor: torch.Tensor, sizes: Sequence[int] | None, ranks: int, what: str) -> list[torch.Tensor]:
    """The pieces of all_to_all_single along dimension 0, as views."""
    rows = tensor.shape[0]
    if sizes:
        return list(torch.split(tensor, list(sizes)))
    if rows % ranks:
        raise UsageError(f"all_to_all_single cannot cut {rows} rows of its {what} into {ranks} equal pieces.")
    return list(torch.split(tensor, rows // ranks)) if rows else [tensor] * ranks


def reduction(opts: Any) -> str:
    """The reduction in an options object: "SUM", "MAX" ... or, with the factor in front, "0.5·SUM"."""
    operator: Any = getattr(opts, "reduceOp", dist.ReduceOp.SUM)
    name = str(getattr(operator, "op", operator)).rsplit(".", 1)[-1]
    if name == "PREMUL_SUM":  # NCCL's: fully_shard divides gradients with it
        return f"{float(operator.factor)!r}·SUM"
    if name not in REDUCTIONS:
        raise UsageError(f"The virtual cluster has no reduction {name}; it has {', '.join(REDUCTIONS)}.")
    return name
