"""A schedule drawn by hand: a row of cells for each stage, one cell per time slot. Is it legal, and how short is it?

    stage 0    F0 F1 .. B0 .. B1        each F and each B takes one slot, messages take none
    stage 1    .. F0 B0 F1 B1 ..        slots count from 0; this drawing has 6

(1) each row has F and B of each micro-batch once, and nothing else
(2) F of i on stage s comes after F of i on stage s - 1
(3) B of i on stage s comes after B of i on stage s + 1; on the last stage, after F of i there
(4) no stage keeps more than ``cap`` micro-batches in any slot, from their F to their B, both included
(5) all rows have their F in the same order, and all rows have their B in the same order: messages arrive as sent

``best_slots`` is the length of the shortest legal drawing, found by search. A state is the number of F and of B that
each stage has done, and in each slot every stage does one more pass or none. Taking micro-batches in order loses no
solution, since they are all alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise, product
from typing import NamedTuple

from lockstep.pipeline.instructions import Pair

Rows = Sequence[Sequence[str]]  # "F3", "B3"; "..", "" or blanks for nothing
IDLE = ("", "..")


class Illegal(NamedTuple):
    """A cell that breaks rule ``rule``; ``why`` says how. ``slot`` is -1 if it concerns the whole row."""

    rule: int
    stage: int
    slot: int
    cell: str
    why: str


def illegal(rows: Rows, micro_batches: int, cap: int) -> Illegal | None:
    """The first violation of a rule in a drawing with one row for each stage; None if it is legal."""
    absent = (
        Illegal(1, stage, -1, cell, f"{cell} is missing")
        for stage, row in enumerate(rows)
        for cell in missing(row, micro_batches)
    )
    return next(chain(_unfit(rows, micro_batches), absent, broken(rows, micro_batches, cap)), None)


def broken(rows: Rows, micro_batches: int, cap: int) -> Iterator[Illegal]:
    """All violations in a drawing that may be unfinished: a pass that is missing violates nothing yet."""
    yield from _unfit(rows, micro_batches)
    yield from _too_early(rows, micro_batches)
    yield from _over_cap(rows, cap)
    yield from _out_of_order(rows)


def missing(row: Sequence[str], micro_batches: int) -> list[str]:
    """The passes that a row does not have yet: F0, B0, F1, ..."""
    return [cell for cell in (f"{kind}{i}" for i in range(micro_batches) for kind in "FB") if cell not in row]


def told(found: Illegal) -> str:
    """As in "rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 is in slot 0"."""
    slot = f", slot {found.slot}" if found.slot >= 0 else ""
    return f"rule {found.rule}, stage {found.stage}{slot}: {found.why}"


def _unfit(rows: Rows, m: int) -> Iterator[Illegal]:
    """(1) Cells that are no pass of this schedule, or are there twice."""
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
    """(2) (3) A micro-batch goes forward through all stages, then backward through all. Each of its passes has to come
    after the previous one, or in an unfinished drawing after the last of the previous ones that is there."""
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
    """(4) Where a stage exceeds the cap, and where it increases the excess."""
    for stage, of_stage in enumerate(kept(rows)):
        for slot, (before, number) in enumerate(pairwise([0, *of_stage])):
            if number > max(cap, before):
                why = f"the stage keeps {number} micro-batches; the cap is {cap}"
                yield Illegal(4, stage, slot, rows[stage][slot], why)


def _out_of_order(rows: Rows) -> Iterator[Illegal]:
    """(5) For each row, where it first deviates from the order of a row above it, among the passes that both have."""
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
    """The slot of each pass in a row."""
    return {cell: slot for slot, cell in enumerate(row) if cell not in IDLE}


def slots(rows: Rows) -> int:
    """The length of the drawing: the slots up to the last F or B of any stage, idle ones included."""
    return max((slot + 1 for row in rows for slot in when(row).values()), default=0)


def kept(rows: Rows) -> list[list[int]]:
    """For each stage, the number of micro-batches that it keeps in each slot: from that of F to that of B, inclusive.

    For an unfinished drawing it is a lower bound: a missing B or F may still go into the nearest empty cell.
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
    """In each slot, how many passes ``one`` so far lack their ``other`` and have had no empty cell for it."""
    now, found = 0, []
    for cell in row:
        now += cell.startswith(one) and other + cell[1:] not in row
        found.append(now)
        now -= cell in IDLE and now > 0
    return found


def idle(rows: Rows) -> float:
    """The bubble: the fraction of all cells that are idle."""
    cells = len(rows) * slots(rows)
    return 1 - sum(len(when(row)) for row in rows) / cells if cells else 0.0


@cache
def best_slots(stages: int, micro_batches: int, cap: int) -> int:
    """The length of the shortest legal drawing, by breadth-first search over all reachable states, slot by slot."""
    p, m, now = stages, micro_batches, 0
    front = seen = {(0,) * (2 * p)}  # f_0 ... f_{p-1}, then b_{p-1} ... b_0: no entry exceeds the one before it
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
    """A legal drawing: each stage runs a B as soon as it can, otherwise an F, and keeps at most min(cap, p - s).

    Its length is the minimum for all sizes that the tests try.
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
    """A legal drawing as streams with messages. The results of a slot are sent before the next slot begins, so there is
    no deadlock."""
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
