"""Rows that the ranks share unequally: some have none."""

from __future__ import annotations

from lockstep.checks.case import Case
from lockstep.checks.wording import listed
from lockstep.exercises.communication.tensors import SUBGROUPS

ROWS = {1: (4,), 2: (3, 1), 3: (3, 0, 5), 4: (6, 0, 5, 5)}
IN_A_GROUP = (3, 5)  # of ``SUBGROUPS[4]``; in all always a power of two


def cases(ranks: int, seed: int) -> list[Case]:
    """Three columns, and one in a group."""
    found = [_case(ranks, seed, None, ROWS[ranks], 3)]
    if ranks == 4:
        found.append(_case(ranks, seed + 1, SUBGROUPS[ranks], IN_A_GROUP, 1))
    return found


def _case(ranks: int, seed: int, group: tuple[int, ...] | None, rows: tuple[int, ...], columns: int) -> Case:
    who = f"the group {list(group)} of {ranks} ranks" if group else f"{ranks} ranks"
    told = f"{who} that have {listed(rows)} rows" if ranks > 1 else f"1 rank that has {rows[0]} rows"
    return Case(ranks, seed, group, {"rows": rows, "columns": columns, "told": told, "trivial": ranks == 1})


def shape_of(case: Case, rank: int) -> tuple[int, int]:
    """Rows and columns of this rank; one that is not in the group has two rows."""
    rows = case.settings["rows"][case.members.index(rank)] if rank in case.members else 2
    return rows, case.settings["columns"]
