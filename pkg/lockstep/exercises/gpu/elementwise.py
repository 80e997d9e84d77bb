"""Vectors whose elements are each read and written once, by neighbouring threads."""

from __future__ import annotations

from functools import partial
from typing import Any

from lockstep.checks.arrays import given_there
from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs, Exercise
from lockstep.exercises.gpu.launches import GLOBAL_BYTES, REQUESTS, SECTORS, Call, kernel, quarters, rows, sizes

on_grids = partial(rows, "n = {n} on a grid of {blocks} x {threads} threads", "n blocks threads")


def on_vectors(case: Case, *, first: tuple[Any, ...] = (), last: tuple[Any, ...] = ()) -> Call:
    """Two vectors between the other arguments. There are zeros in each, and at some places in both."""
    n, blocks, threads = sizes(case)
    vectors = quarters(case, 1, 2**16, n), quarters(case, 2, 2**16, n)
    for step, vector in zip((11, 13), vectors, strict=True):
        vector[step::step] = 0
    return (blocks,), (threads,), (*first, *vectors, *last)


BUDGETS = (
    Budget(GLOBAL_BYTES, lambda case: 12 * sizes(case)[0], "12·n", at_least=0.9,  # zeros need not be added
           advice="Read two numbers for each element, and write one."),
    Budget(REQUESTS, lambda case: 3 * sizes(case, 32)[0], at_most=2,
           advice="A request is one load or store of a whole warp, for up to 32 elements."),
    Budget(SECTORS, lambda case: 3 * sizes(case, 8)[0], at_most=1.7,
           advice="Neighbouring threads must take neighbouring elements at the same time."),
)  # fmt: skip


def elementwise(algorithm: str, **fields: Any) -> Exercise:
    """An exercise on two vectors, worth 2 points."""
    aside = given_there(*fields["parameters"].split(", "))
    return kernel(points=2, costs=Costs(algorithm=algorithm, budgets=BUDGETS), aside=aside, **fields)
