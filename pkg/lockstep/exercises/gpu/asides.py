"""What is said of a wrong element of a kernel's result besides: what it is instead, or how it came about."""

from __future__ import annotations

from typing import Any

import numpy as np

from lockstep.checks.arrays import with_ones
from lockstep.checks.evidence_rules import Evidence


def origin(arguments: tuple[Any, ...], evidence: Evidence, at: tuple[int, ...]) -> str:
    """Where in the source a wrong element stands."""
    places = np.argwhere(arguments[0] == evidence["result"][at].item()).tolist()
    return f"That is source{places[0]}." if len(places) == 1 else ""


def factors_of_ones(A: Any, B: Any, C: Any) -> list[tuple[Any, ...]]:
    """Probes of a matrix product: what an element is then, counts the products that come into it."""
    return [(np.ones_like(A), np.ones_like(B), C)]


def products(arguments: tuple[Any, ...], evidence: Evidence, at: tuple[int, ...]) -> str:
    """How many products come into a wrong element."""
    held, k = evidence.get("probed", [None])[0], arguments[0].shape[1]
    return "" if held is None else f"Where A and B hold ones, C{list(at)} is {with_ones(held[at].item(), k)}."


def total(arguments: tuple[Any, ...], evidence: Evidence, at: tuple[int, ...]) -> str:
    """How many values a histogram counts in all."""
    return f"All of your counts add up to {int(evidence['result'].sum()):,}; there are {len(arguments[0]):,} values."
