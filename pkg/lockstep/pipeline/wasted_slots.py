"""Where a legal schedule wastes a slot: a pass that could stand earlier, with all others where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lockstep.pipeline.drawn_schedule import IDLE, Rows, kept, slots, when


class Wasted(NamedTuple):
    """In ``slot`` the ``stage`` does ``instead``, or nothing (""), and could do ``cell``, which it does later."""

    stage: int
    slot: int
    cell: str
    instead: str = ""

    def __str__(self) -> str:
        """As in "In slot 3 stage 0 does nothing, and could do F3 there." """
        if self.instead:
            return f"In slot {self.slot} stage {self.stage} does {self.instead}, and could do {self.cell} there first."
        return f"In slot {self.slot} stage {self.stage} does nothing, and could do {self.cell} there."


def wasted(rows: Rows, caps: Sequence[int]) -> Wasted | None:
    """The first slot in which a stage does nothing and could do something; or else the first one in which it does an F
    and could do a B, which makes room. ``caps``: how many micro-batches each stage may keep."""
    return next(_idle(rows, caps), None) or next(_forward_before_backward(rows), None)


def _idle(rows: Rows, caps: Sequence[int]) -> Iterator[Wasted]:
    at, held = [when(row) for row in rows], kept(rows)
    for slot in range(slots(rows)):
        for stage, row in enumerate(rows):
            if slot < len(row) and row[slot] not in IDLE:
                continue
            for kind in "BF":
                cell = _next(at[stage], kind, slot)
                full = kind == "F" and cell and max(held[stage][slot : at[stage][cell]]) >= caps[stage]
                if cell and not full and _came(at, stage, cell, slot):
                    yield Wasted(stage, slot, cell)


def _forward_before_backward(rows: Rows) -> Iterator[Wasted]:
    at = [when(row) for row in rows]
    for slot in range(slots(rows)):
        for stage, row in enumerate(rows):
            if slot < len(row) and row[slot].startswith("F"):
                cell = _next(at[stage], "B", slot)
                if cell and _came(at, stage, cell, slot):
                    yield Wasted(stage, slot, cell, row[slot])


def _next(at: dict[str, int], kind: str, slot: int) -> str:
    """The first F or B of a row after that slot; "" if there is none."""
    later = [cell for cell, there in at.items() if cell.startswith(kind) and there > slot]
    return min(later, key=at.__getitem__, default="")


def _came(at: Sequence[dict[str, int]], stage: int, cell: str, slot: int) -> bool:
    """Whether what a pass waits for is over before that slot."""
    if cell.startswith("F"):
        return stage == 0 or at[stage - 1][cell] < slot
    if stage == len(at) - 1:
        return at[stage][f"F{cell[1:]}"] < slot
    return at[stage + 1][cell] < slot
