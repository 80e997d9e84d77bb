"""A field of cells that all differ, cut in blocks: of a cell in a wrong place it can be said where it comes from."""

from __future__ import annotations

import torch
from torch import Tensor

from lockstep.checks.case import DTYPES, Case
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare, first_wrong
from lockstep.domain_decomposition import Blocks
from lockstep.exercises.communication.tensors import SUBGROUPS
from lockstep.exercises.without_waiting.evidence import case

Row = tuple[int, int, int, int, int, str]  # rows and columns of the field, P, Q, width; and what is special
PLAIN, COUNTS, MANY_BITS, TURNED, SILENT = "", "int64", "float64", "blocks transposed in memory", "zeros on rank 1"
TRIED: dict[int, list[Row]] = {
    1: [(3, 5, 1, 1, 2, PLAIN)],
    2: [(5, 4, 2, 1, 1, PLAIN), (4, 7, 1, 2, 3, COUNTS)],
    3: [(10, 4, 3, 1, 2, MANY_BITS), (2, 7, 1, 3, 1, SILENT)],
    4: [(5, 9, 2, 2, 2, PLAIN), (9, 3, 4, 1, 2, TURNED)],
    6: [(5, 8, 2, 3, 1, TURNED), (10, 5, 3, 2, 2, COUNTS), (3, 2, 3, 2, 1, PLAIN)],
    8: [(4, 9, 2, 4, 2, PLAIN)],
}
GROUPED: Row = (5, 6, 2, 1, 2, PLAIN)  # by a group of two; and of four:
FOUR: Row = (5, 6, 2, 2, 2, PLAIN)


def cases(ranks: int, seed: int) -> list[Case]:
    rows: list[tuple[tuple[int, ...] | None, Row]] = [(None, row) for row in TRIED[ranks]]
    if ranks in SUBGROUPS:
        rows.append((SUBGROUPS[ranks], GROUPED if len(SUBGROUPS[ranks]) == 2 else FOUR))
    return [made(ranks, seed + n, *row) for n, row in enumerate(rows)]


def made(ranks: int, seed: int, group: tuple[int, ...] | None, row: Row) -> Case:
    rows, columns, P, Q, width, special = row
    told = f"{rows} x {columns} cells on P={P}, Q={Q}", f"width={width}", special
    return case(ranks, seed, group, *told, trivial=ranks == 1, sizes=[rows, columns, P, Q], width=width, how=special)


def blocks(case: Case) -> Blocks:
    return Blocks(*case.settings["sizes"])


def field(case: Case) -> Tensor:
    """Numbers that differ from cell to cell, and that need their dtype."""
    of, how = blocks(case), case.settings["how"]
    dtype = DTYPES.get(how, torch.float32)
    drawn = torch.randperm(2**20, generator=torch.Generator().manual_seed(case.seed))[: of.rows * of.columns]
    cells = (
        drawn + 2**54 + 1
        if dtype == torch.int64
        else (drawn - 2**19).double() / 4 + (2**30 if dtype == torch.float64 else 0.0)
    )
    cells = cells.to(dtype).reshape(of.rows, of.columns)
    if how == SILENT:
        cells.tensor_split(of.P, 0)[0].tensor_split(of.Q, 1)[1].zero_()
    return cells


def given(case: Case, rank: int) -> tuple[Tensor, int, int, int]:
    of = blocks(case)
    block = of.part(field(case), case.members.index(rank) if rank in case.members else 0).clone()
    turned = block.T.contiguous().T if case.settings["how"] == TURNED else block
    return turned, of.P, of.Q, case.settings["width"]


def numbers_of(case: Case, r: int) -> Tensor:
    """Of each place in the result of the group's rank r, the number of its cell in the field."""
    of, width = blocks(case), case.settings["width"]
    every = torch.arange(of.rows * of.columns).reshape(of.rows, of.columns)
    own = of.part(every, r)
    row, column = divmod(int(own[0, 0]), of.columns)
    down = torch.arange(row - width, row + len(own) + width) % of.rows
    across = torch.arange(column - width, column + own.shape[1] + width) % of.columns
    return every[down][:, across]


def wanted(case: Case) -> list[Tensor]:
    whole = field(case).flatten()
    return [whole[numbers_of(case, r)] for r in range(case.size)]


def examine(seen: Seen) -> Fault | None:
    """The first cell that is not the right one, and where it comes from."""
    held, right = [seen.returned[rank] for rank in seen.case.members], wanted(seen.case)
    fault = compare(seen, held, right)
    if fault is None or fault.misconception != "wrong-values":
        return fault
    place = first_wrong(held, right)
    assert place is not None  # compare found one
    n, at = place
    i, j = divmod(at, right[n].shape[1])
    there, want = apart(held[n][i, j].item(), right[n][i, j].item())
    has = origin(seen.case, held[n][i, j].item())
    told = f"[{i}, {j}] of what rank {seen.case.members[n]} returns is {there}{has and f', {has}'}. "
    told += f"There belongs {want}, {origin(seen.case, right[n][i, j].item())}." if has else f"It should be {want}."
    return Fault("wrong-values", f"With {seen.case}: {told}")


def origin(case: Case, value: float) -> str:
    """Whose cell it is, as in "cell [0, 3] of rank 2's block"; "" if there is no such cell, or more than one."""
    whole, of = field(case), blocks(case)
    if int((whole == value).sum()) != 1:
        return ""
    for r, rank in enumerate(case.members):
        found = (of.part(whole, r) == value).nonzero()
        if len(found):
            return f"cell {found[0].tolist()} of rank {rank}'s block"
    return ""
