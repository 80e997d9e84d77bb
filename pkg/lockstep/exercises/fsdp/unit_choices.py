"""How good a choice of FSDP units is: networks on which choices differ, and a choice compared with the best one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf
from random import Random
from typing import Any

from lockstep.checks.wording import counted
from lockstep.cost.fsdp_units import STATES, Model, Unit, best_units, forward_seconds, most_bytes, step_seconds

BETA = 2.0**-33  # seconds a byte

Call = tuple[Any, ...]  # sizes, memory, ranks, alpha, beta, seconds


def networks(layers: int, room: float, dice: Random, alpha: float = 1.0, number: int = 3) -> list[Call]:
    """``room``: bytes for whole units, in addition to what single layers need. A gather of a usual layer takes as long
    as it usually computes; now one is longer, now the other."""
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
        return inf, f"is not the layers 0 to {model.layers - 1}, each in one unit, in order, as [[0, 1], [2], ...]."
    if (needed := most_bytes(model, units)) > model.memory:
        return inf, f"needs {needed:,} bytes, and there are {model.memory:,}: {_memory(model, units)}."
    takes, best = step_seconds(model, units), _best(model)
    could, own = step_seconds(model, best), forward_seconds(model, units)
    spent = f"{own:.4g} s forward and {takes - own:.4g} s backward"
    alike = (
        f"in {counted(len(best), 'unit')}, as yours" if len(best) == len(units) else f"in {counted(len(best), 'unit')}"
    )
    full = " They fill the memory." if most_bytes(model, best) == model.memory else ""
    there = f"{could:.4g} s is possible, {alike}, {forward_seconds(model, best):.4g} s of it forward"
    return takes / could, f"takes {takes:.4g} s a step, {spent}; {there}.{full}{_longest_wait(model, units)}"


def _longest_wait(model: Model, units: Sequence[Unit]) -> str:
    """Where the link takes longest after a unit has computed, in a sentence."""
    rows = list[tuple[float, str]]()
    for u, (before, own, after) in enumerate(zip([None, *units], units, [*units[1:], None], strict=False)):
        coming = f"the gather of unit {u + 1}"
        rows.append((model.gather(after) - model.compute(own), f"Forward, unit {u} waits {{}} s for {coming}"))
        names = [f"the gather of unit {u - 1}"] * bool(before) + [f"the reduce-scatter of unit {u + 1}"] * bool(after)
        late = model.gather(before) + model.gather(after) - 2 * model.compute(own)
        rows.append((late, f"Backward, unit {u} waits {{}} s for {' and '.join(names)}"))
    wait, told = max(rows)
    return f" {told.format(f'{wait:.3g}')}." if wait > 0 else ""


def _memory(model: Model, units: Sequence[Unit]) -> str:
    """What is there when the most is, in a sentence."""
    always = model.bytes()
    if len(units) == 1:
        return f"{always:,} for the shards, and {model.bytes(units[0]) - always:,} for the whole unit"
    u = max(range(len(units) - 1), key=lambda u: model.bytes(*units[u : u + 2]))
    whole = model.bytes(*units[u : u + 2]) - always
    return f"{always:,} for the shards, and {whole:,} for the units {u} and {u + 1}, whole"


def units_of(answer: Any, layers: int) -> list[Unit]:
    """None that is empty, each layer once, in order, by whole numbers; nothing where it is not so."""
    units = answer if isinstance(answer, list) and all(isinstance(u, list) and u for u in answer) else []
    named = [i for u in units for i in u]  # 1.0 is equal to 1, and no layer's number
    whole = all(isinstance(i, int) for i in named)
    return [(u[0], u[-1] + 1) for u in units] if whole and named == list(range(layers)) else []


@cache
def _best(model: Model) -> list[Unit]:
    return best_units(model)
