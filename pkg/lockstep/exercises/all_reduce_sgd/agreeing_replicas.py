"""Replicas that agree, and sets of replicas in which one differs in a way that a simple fingerprint misses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.wording import counted
from lockstep.exercises.communication.tensors import SUBGROUPS

Replica = list[Tensor]  # a matrix, two vectors alike in shape, no elements, a scalar; then float64: a matrix


def _drawn(case: Case) -> Replica:
    """The same on every rank: with 0.0 in it, and four numbers whose bit patterns grow with their values."""
    shapes = [(4, 6), (5,), (5,), (0, 3), ()]
    drawn = generator(case, 0)
    replica = [torch.randn(shape, generator=drawn) for shape in shapes]
    replica[0][1, :5] = torch.tensor([4.0, 5.0, 7.0, 6.0, 0.0])
    return [*replica, torch.randn(2, 3, generator=drawn, dtype=torch.float64)]


def _swap(replica: Replica, seat: int) -> None:
    """Two pairs: sums, sums of squares and sums weighted by place stay the same, of numbers and of bits."""
    replica[0][1, :4] = torch.tensor([5.0, 4.0, 6.0, 7.0])


def _cancel(replica: Replica, seat: int) -> None:
    """Sums stay the same, and sums weighted by place, of numbers and of bits."""
    replica[0][1, :3] += torch.tensor([0.5, -1.0, 0.5])


def _exchange(replica: Replica, seat: int) -> None:
    replica[1], replica[2] = replica[2], replica[1]


def _turn_sign(replica: Replica, seat: int) -> None:
    replica[0][1, 4] = -0.0


def _last_bit(replica: Replica, seat: int) -> None:
    replica[-1][1, 2] = torch.nextafter(replica[-1][1, 2], torch.tensor(torch.inf, dtype=torch.float64))


def _drift(replica: Replica, seat: int) -> None:
    replica[0][1, 0] += seat / 2


def _turn_memory(replica: Replica, seat: int) -> None:
    replica[0] = replica[0].t().contiguous().t()


def _spoil(replica: Replica, seat: int) -> None:
    replica[0][0, 0] = torch.nan


def _spoil_otherwise(replica: Replica, seat: int) -> None:
    """A NaN on each rank; that of the second has other bits, which no number shows."""
    replica[0].view(torch.int32)[0, 0] = 0x7FC00000 + (seat == 1)


def _last_bit_of_float32(replica: Replica, seat: int) -> None:
    replica[0][3, 5] = torch.nextafter(replica[0][3, 5], torch.tensor(torch.inf))


def _nan_for_zero(replica: Replica, seat: int) -> None:
    replica[0][1, 4] = torch.nan


def _nothing(replica: Replica, seat: int) -> None: ...


@dataclass(frozen=True)
class Kind:
    """``change(replica, seat)`` makes the difference: on one rank, or on ``all`` of them."""

    told: str
    agree: bool
    change: Callable[[Replica, int], None]
    all: bool = False


KINDS = {
    "same": Kind("all with the same bits", True, _nothing),
    "memory": Kind("of which rank {odd} has a matrix of the same elements transposed in memory", True, _turn_memory),
    "nan": Kind("all with the same bits, a NaN among them", True, _spoil, all=True),
    "other nan": Kind("all with a NaN, of which one has other bits", False, _spoil_otherwise, all=True),
    "swapped": Kind("of which rank {odd} has swapped two pairs of elements", False, _swap),
    "cancelling": Kind("of which rank {odd} differs in three elements, by changes that cancel", False, _cancel),
    "exchanged": Kind("of which rank {odd} has exchanged two tensors", False, _exchange),
    "zero": Kind("of which rank {odd} has −0.0 where the others have 0.0", False, _turn_sign),
    "bit": Kind("of which rank {odd} differs in the last bit of one float64", False, _last_bit),
    "small bit": Kind("of which rank {odd} differs in the last bit of one float32", False, _last_bit_of_float32),
    "nan for zero": Kind("of which rank {odd} has a NaN where the others have 0.0", False, _nan_for_zero),
    "drift": Kind("of which each differs from the one before by the same step", False, _drift, all=True),
}
TRIED: dict[int, Sequence[str]] = {
    1: ["same"],
    2: ["same", "swapped", "zero", "bit", "nan for zero"],
    3: ["drift", "nan", "cancelling", "other nan"],
    4: ["same", "memory", "exchanged"],
    8: ["same", "small bit", "cancelling"],
}
IN_A_GROUP = {4: "same", 8: "swapped"}


def cases(ranks: int, seed: int) -> list[Case]:
    rows: list[tuple[tuple[int, ...] | None, str]] = [(None, kind) for kind in TRIED[ranks]]
    rows += [(SUBGROUPS[ranks], IN_A_GROUP[ranks])] if ranks in SUBGROUPS else []
    return [_case(ranks, seed + n, group, kind) for n, (group, kind) in enumerate(rows)]


def _case(ranks: int, seed: int, group: tuple[int, ...] | None, kind: str) -> Case:
    members = group or tuple(range(ranks))
    odd = members[seed % len(members)]
    where = f"the group {list(members)} of {ranks} ranks" if group else counted(ranks, "rank")
    told = f"{where}, {KINDS[kind].told.format(odd=odd)}" if ranks > 1 else where
    return Case(ranks, seed, group, {"kind": kind, "odd": odd, "told": told, "trivial": ranks == 1})


def agree(case: Case) -> bool:
    return KINDS[case.settings["kind"]].agree


def parameters(case: Case, rank: int) -> tuple[Replica]:
    """Ranks outside the group hold something else each."""
    replica, kind = _drawn(case), KINDS[case.settings["kind"]]
    if rank not in case.members:
        replica[0] += rank + 1
    elif kind.all or rank == case.settings["odd"]:
        kind.change(replica, case.members.index(rank))
    return (replica,)
