"""A schedule drawn by hand: a row of cells for each stage, a cell for each slot. Is it legal, and how short is it?

    stage 0    F0 F1 .. B0 .. B1        each F and each B takes one slot, a message none
    stage 1    .. F0 B0 F1 B1 ..        slots count from 0; this drawing has 6

(1) each row has F and B of each micro-batch once, and nothing else
(2) F of i on stage s stands later than F of i on stage s - 1
(3) B of i on stage s stands later than B of i on stage s + 1; on the last stage, later than F of i there
(4) in no slot a stage keeps more than ``cap`` micro-batches, from their F to their B, both included
(5) all rows have their F in one order, and all rows have their B in one order: messages arrive as they are sent

``best_slots`` is the shortest of all. It is searched for: a state says how many F and how many B each stage has done,
and a slot takes each stage one step further or leaves it. With micro-batches in order nothing is lost: they are alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise, product
from typing import NamedTuple

from lockstep.pipeline.pairs import Pair

Rows = Sequence[Sequence[str]]  # "F3", "B3"; "..", "" or blanks for nothing
IDLE = ("", "..")


class Illegal(NamedTuple):
    """The first place that breaks rule ``rule``; ``why`` says what is wrong there. ``slot``: -1 for a whole row."""

    rule: int
    stage: int
    slot: int
    cell: str
    why: str


def illegal(rows: Rows, micro_batches: int, cap: int) -> Illegal | None:
    """None if a drawing of a row for each stage is legal."""
    absent = (
        Illegal(1, stage, -1, cell, f"{cell} is missing")
        for stage, row in enumerate(rows)
        for cell in missing(row, micro_batches)
    )
    return next(chain(_unfit(rows, micro_batches), absent, broken(rows, micro_batches, cap)), None)


def broken(rows: Rows, micro_batches: int, cap: int) -> Iterator[Illegal]:
    """All places of a drawing in the making that break a rule already. What is missing breaks none."""
    yield from _unfit(rows, micro_batches)
    yield from _too_early(rows, micro_batches)
    yield from _over_cap(rows, cap)
    yield from _out_of_order(rows)


def missing(row: Sequence[str], micro_batches: int) -> list[str]:
    """The passes that a row doesn't have yet: F0, B0, F1, ..."""
    return [cell for cell in (f"{kind}{i}" for i in range(micro_batches) for kind in "FB") if cell not in row]


def told(found: Illegal) -> str:
    """As in "rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 is in slot 0"."""
    slot = f", slot {found.slot}" if found.slot >= 0 else ""
    return f"rule {found.rule}, stage {found.stage}{slot}: {found.why}"


def _unfit(rows: Rows, m: int) -> Iterator[Illegal]:
    for stage, row in enumerate(rows):
        seen = dict[str, int]()
        for slot, cell in enumerate(row):
            if cell in IDLE:
                continue
            if not re.fullmatch(r"[FB](0|[1-9]\d{0,5})", cell) or int(cell[1:]) >= m:
                why = f"{cell!r:.40} is none of the cells F0 to F{m - 1}, B0 to B{m - 1}, '..'"
                yield Illegal(1, stage, slot, cell, why)
            elif cell in seen:
                yield Illegal(1, stage, slot, cell, f"{cell} stands in slot {seen[cell]} already")
            seen[cell] = slot


def _too_early(rows: Rows, m: int) -> Iterator[Illegal]:
    """A micro-batch goes forward through all stages, and backward through all. Each of its passes stands later than
    the one before, or in a drawing in the making than the last one before it that is there."""
    at, stages = [when(row) for row in rows], range(len(rows))
    way = [*((stage, "F") for stage in stages), *((stage, "B") for stage in reversed(stages))]
    for (done, (stage, kind)), i in product(enumerate(way), range(m)):
        before = [(s, f"{k}{i}") for s, k in way[:done] if f"{k}{i}" in at[s]]
        cell = f"{kind}{i}"
        if not before or cell not in at[stage]:
            continue
        source, awaited = before[-1]
        slot, there = at[stage][cell], at[source][awaited]
        if slot <= there:
            why = f"{cell} stands there, and {awaited} of stage {source} stands in slot {there}: {cell} has to be later"
            yield Illegal(2 if kind == "F" else 3, stage, slot, cell, why)


def _over_cap(rows: Rows, cap: int) -> Iterator[Illegal]:
    """Where a stage goes over the cap, and where it goes on to still more."""
    for stage, of_stage in enumerate(kept(rows)):
        for slot, (before, number) in enumerate(pairwise([0, *of_stage])):
            if number > max(cap, before):
                why = f"the stage keeps {number} micro-batches; the cap is {cap}"
                yield Illegal(4, stage, slot, rows[stage][slot], why)


def _out_of_order(rows: Rows) -> Iterator[Illegal]:
    """For each row, where it first differs from a row above it, of the passes that both have."""
    at = [when(row) for row in rows]
    for kind, stage in product("FB", range(len(rows))):
        for above in range(stage):
            both = [cell for cell in at[stage] if cell.startswith(kind) and cell in at[above]]
            ordered = zip(sorted(both, key=at[above].__getitem__), sorted(both, key=at[stage].__getitem__), strict=True)
            if other := next(((wanted, cell) for wanted, cell in ordered if cell != wanted), None):
                wanted, cell = other
                why = f"{cell} stands where stage {above} has {wanted}: {kind} in another order"
                yield Illegal(5, stage, at[stage][cell], cell, why)
                break


def when(row: Sequence[str]) -> dict[str, int]:
    """The slot of each cell."""
    return {cell: slot for slot, cell in enumerate(row) if cell not in IDLE}


def slots(rows: Rows) -> int:
    """All up to the last F or B of any stage, idle ones too."""
    return max((slot + 1 for row in rows for slot in when(row).values()), default=0)


def kept(rows: Rows) -> list[list[int]]:
    """Of each stage: how many micro-batches it keeps in each slot. F counts from its slot on, B to its slot.

    In a drawing in the making that is so many at least: an F may get its B, and a B its F, in the nearest empty cell.
    """
    found = []
    for row in rows:
        at = when(row)
        spans = [(slot, at["B" + cell[1:]]) for cell, slot in at.items() if cell[0] == "F" and "B" + cell[1:] in at]
        whole = [sum(f <= slot <= b for f, b in spans) for slot in range(len(row))]
        begun, ended = _alone(row, "F", "B"), _alone(row[::-1], "B", "F")[::-1]
        found.append([sum(counts) for counts in zip(whole, begun, ended, strict=True)])
    return found


def _alone(row: Sequence[str], one: str, other: str) -> list[int]:
    """How many passes ``one`` have been there without their ``other``, and had no empty cell for it."""
    now, found = 0, []
    for cell in row:
        now += cell.startswith(one) and other + cell[1:] not in row
        found.append(now)
        now -= cell in IDLE and now > 0
    return found


def idle(rows: Rows) -> float:
    """The bubble: the share of all cells that are idle."""
    cells = len(rows) * slots(rows)
    return 1 - sum(len(when(row)) for row in rows) / cells if cells else 0.0


@cache
def best_slots(stages: int, micro_batches: int, cap: int) -> int:
    """The fewest slots of any legal drawing, by breadth-first search: slot by slot, all states that are possible."""
    p, m, now = stages, micro_batches, 0
    front = seen = {(0,) * (2 * p)}  # f_0 ... f_{p-1}, then b_{p-1} ... b_0: never more than what stands before
    while (m,) * (2 * p) not in front:
        front = {after for state in front for after in _a_slot_later(state, p, m, cap)} - seen
        seen, now = seen | front, now + 1
    return now


def _a_slot_later(state: tuple[int, ...], p: int, m: int, cap: int) -> Iterator[tuple[int, ...]]:
    before = (m, *state)
    passes = [[(s, False), (2 * p - 1 - s, True)] for s in range(p)]  # where F and B of a stage are counted
    able = [
        [at for at, backward in of_stage if state[at] < before[at] and (backward or state[at] - state[~at] < cap)]
        for of_stage in passes
    ]
    for chosen in product(*([None, *of_stage] for of_stage in able)):
        yield tuple(count + (at in chosen) for at, count in enumerate(state))


def drawing(stages: int, micro_batches: int, cap: int) -> list[list[str]]:
    """A legal drawing: each stage takes B as soon as it can, or else F, and keeps at most min(cap, p - s).

    It has as few slots as can be in all sizes that the tests try.
    """
    rows, f, b = [list[str]() for _ in range(stages)], [0] * stages, [0] * stages
    while b[0] < micro_batches:
        done, back = list(f), list(b)
        for s, row in enumerate(rows):
            came = done[s - 1] if s else micro_batches
            returned = back[s + 1] if s + 1 < stages else done[s]
            if b[s] < returned:
                row.append(f"B{b[s]}")
                b[s] += 1
            elif f[s] < came and f[s] - b[s] < min(cap, stages - s):
                row.append(f"F{f[s]}")
                f[s] += 1
            else:
                row.append("..")
    return rows


def streams_of(rows: Rows) -> list[list[Pair]]:
    """A legal drawing as streams with messages: what a slot has computed travels before the next one begins, so that
    nobody waits in a circle."""
    streams: list[list[Pair]] = [[] for _ in rows]
    for slot in range(slots(rows)):
        cells = [(stage, row[slot]) for stage, row in enumerate(rows) if row[slot:] and row[slot] not in IDLE]
        now = [(stage, cell[0], int(cell[1:])) for stage, cell in cells]
        for stage, kind, i in now:
            streams[stage].append((kind, i))
        for stage, kind, i in now:
            what, to = ("activation", stage + 1) if kind == "F" else ("gradient", stage - 1)
            if 0 <= to < len(rows):
                streams[stage].append((f"send {what}", i))
                streams[to].append((f"receive {what}", i))
    return streams
