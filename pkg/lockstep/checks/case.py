"""A Case: one call of the learner's function on every rank, described by plain data so that a judge can rebuild it.

Cases differ in what learners' answers stumble over: more than two ranks, a size that the ranks do not divide, a group
that is not the world, a matrix, a dtype. ``failing_cases.py`` makes an explanation of
which ones fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from lockstep.checks.wording import counted

DTYPES = {"float32": torch.float32, "float64": torch.float64, "int64": torch.int64, "int32": torch.int32}


@dataclass(frozen=True)
class Case:
    """``settings`` are JSON values: numel, dtype, layout, src ... whatever the exercise's inputs need."""

    ranks: int  # world size
    seed: int
    group: tuple[int, ...] | None = None  # global ranks; None is the whole world
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def members(self) -> tuple[int, ...]:
        return self.group if self.group is not None else tuple(range(self.ranks))

    @property
    def size(self) -> int:
        """Ranks that take part: the K of the formulas."""
        return len(self.members)

    @property
    def trivial(self) -> bool:
        """Too easy to earn points: one rank, or nothing to send."""
        return bool(self.settings.get("trivial", self.size == 1 and "told" not in self.settings))

    def __str__(self) -> str:
        """As in "With 4 ranks, 7 elements"; a case without ranks has its name in ``told``, as in "4,096 floats"."""
        if "told" in self.settings:
            return str(self.settings["told"])
        where = counted(self.size, "rank")
        if self.group is not None:
            where = f"the group {list(self.group)} of {self.ranks} ranks"
        shown = {k: v for k, v in self.settings.items() if k in _TOLD and v not in ("contiguous", "float32")}
        return ", ".join([where, *(_TOLD[k](v) for k, v in shown.items())])


_TOLD: Mapping[str, Callable[[Any], str]] = {
    "numel": lambda v: counted(v, "element"),
    "dtype": str,
    "layout": lambda v: "a tensor of shape ()" if v == "()" else f"a {v} tensor",
    "zeros_on": "zeros on rank {}".format,
    "src": "src={}".format,
    "dst": "dst={}".format,
    "nbytes": lambda v: counted(v, "byte"),
    "repeats": "repeats={}".format,
    "steps": lambda v: counted(v, "step") if isinstance(v, int) else "",
    "layers": lambda v: counted(v, "layer"),
    "tied": lambda v: "a matrix used twice",
    "bucket_bytes": "bucket_bytes={:,}".format,
}

Inputs = Callable[[Case, int], Sequence[Any]]


def generator(case: Case, rank: int) -> torch.Generator:
    """Numbers of this case and rank alone; ranks differ, and so do cases."""
    return torch.Generator().manual_seed((case.seed * 1009 + rank * 7919 + case.ranks) % 2**63)


def numbers(case: Case, rank: int) -> torch.Tensor:
    """``numel`` numbers that need their dtype, different on every rank: quarters, more than 16 bits hold, and in 64
    bits more than 32 bits hold. Sums of a few of them are exact, in any order. A rank may have zeros (``zeros_on``)."""
    drawn, dtype = generator(case, rank), DTYPES[case.settings["dtype"]]
    small = torch.randint(-4095, 4096, (case.settings["numel"],), generator=drawn)
    large = torch.randint(-7, 8, (case.settings["numel"],), generator=drawn)
    if dtype.is_floating_point:
        values = small.to(torch.float64) / 4 + (large.to(torch.float64) * 2**30 if dtype == torch.float64 else 0)
    else:
        values = small + large * 2 ** (54 if dtype == torch.int64 else 25)
    if rank == case.settings.get("zeros_on"):
        values = torch.zeros_like(values)
    return laid_out(values.to(dtype), case.settings.get("layout", "contiguous"))


def laid_out(values: torch.Tensor, layout: str) -> torch.Tensor:
    """The same numbers as a vector, as a matrix of two rows, or one number as a tensor of shape ()."""
    return values.reshape({"matrix": (2, -1), "()": ()}.get(layout, (-1,)))
