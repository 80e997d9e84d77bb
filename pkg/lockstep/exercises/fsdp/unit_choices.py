"""How good a choice of units is: networks on which choices differ, and a choice beside the best one."""

from __future__ import annotations

from functools import cache
from math import inf
from random import Random
from typing import Any

from lockstep.cost.gathered_units import STATES, Model, Unit, best_units, most_bytes, step_seconds

BETA = 2.0**-33  # seconds a byte

Call = tuple[Any, ...]  # sizes, memory, ranks, alpha, beta, seconds


def networks(layers: int, room: float, dice: Random, alpha: float = 1.0, number: int = 3) -> list[Call]:
    """``room``: for whole units, beside what single layers need. A gather of a usual layer takes as long as it usually
    computes; now one is longer, now the other."""
    found: list[Call] = []
    for _ in range(number):
        ranks = dice.choice((4, 8, 16))
        sizes = [dice.choice((1, 1, 8, 30)) * dice.randint(20_000, 60_000) for _ in range(layers)]
        usual = 4 * sum(sizes) / layers * BETA
        seconds = [usual * dice.choice((0.25, 0.5, 1.0, 3.0)) * dice.uniform(0.5, 1.5) for _ in sizes]
        least = most_bytes(Model.of(sizes, 0, ranks, 0, 0, seconds), [(i, i + 1) for i in range(layers)])
        states = STATES * -(-sum(sizes) // ranks)
        memory = states + int((least - states) * room)
        found.append((sizes, memory, ranks, alpha * usual * dice.uniform(0.5, 2), BETA, seconds))
    return found


def beside_the_best(call: Call, answer: Any) -> tuple[float, str]:
    """By how much the step is longer than it could be, and that in words. Infinite where it cannot be."""
    model, units = Model.of(*call), units_of(answer, len(call[0]))
    if not units:
        return inf, f"is not the layers 0 to {model.layers - 1}, each in one unit, in order."
    if (needed := most_bytes(model, units)) > model.memory:
        return inf, f"needs {needed:,} bytes, and there are {model.memory:,}."
    takes, could = step_seconds(model, units), _shortest(model)
    return takes / could, f"takes {takes:.4g} s a step; {could:.4g} s is possible."


def units_of(answer: Any, layers: int) -> list[Unit]:
    """None that is empty, each layer once, in order, by whole numbers; nothing where it is not so."""
    units = answer if isinstance(answer, list) and all(isinstance(u, list) and u for u in answer) else []
    named = [i for u in units for i in u]  # 1.0 is equal to 1, and no layer's number
    whole = all(isinstance(i, int) for i in named)
    return [(u[0], u[-1] + 1) for u in units] if whole and named == list(range(layers)) else []


@cache
def _shortest(model: Model) -> float:
    return step_seconds(model, best_units(model))
