"""Vectors whose elements are each read and written once, by neighbouring threads."""

from __future__ import annotations

from functools import partial
from typing import Any

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.exercises.gpu.launches import GLOBAL_BYTES, REQUESTS, SECTORS, kernel, launches, quarters

on_grids = partial(launches, "n = {n} on a grid of {blocks} x {threads} threads", "n blocks threads")


def vectors(case: Case) -> tuple[Any, Any]:
    n = case.settings["n"]
    return quarters(case, 1, 2**16, n), quarters(case, 2, 2**16, n)


def grid(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (case.settings["blocks"],), (case.settings["threads"],)


elementwise = partial(
    kernel,
    points=2,
    budgets=(
        Budget(GLOBAL_BYTES, lambda case: 12 * case.settings["n"], "12·n", at_least=1,
               advice="Read two numbers for each element, and write one."),
        Budget(REQUESTS, lambda case: 3 * -(-case.settings["n"] // 32), at_most=2,
               advice="A request is one load or store of a whole warp, for up to 32 elements."),
        Budget(SECTORS, lambda case: 3 * -(-case.settings["n"] // 8), at_most=1.7,
               advice="Neighbouring threads must take neighbouring elements at the same time."),
    ),
)  # fmt: skip
