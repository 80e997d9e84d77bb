"""Which layers to gather together? Judged by the step's time beside the shortest there is, within the memory."""

from functools import cache, partial
from random import Random
from typing import Any

from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.cost.units import STATES, Model, Unit, best_units, most_bytes, step_seconds
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn

BETA = 2.0**-33  # seconds a byte
RIGHT, NEAR = 1.01, 1.10  # of the shortest step


def networks(layers: int, room: float, dice: Random, alpha: float = 1.0, number: int = 3) -> Calls:
    """``room``: for whole units, beside what single layers need. A gather of a usual layer takes as long as it usually
    computes; now one is longer, now the other."""
    found: list[tuple[Any, ...]] = []
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


TRIED: Tried = {
    "8 layers": partial(networks, 8, 2.0),
    "10 layers and little memory": partial(networks, 10, 1.2),
    "12 layers and much memory": partial(networks, 12, 8.0),
    "12 layers, alpha 0 and little memory": partial(networks, 12, 1.0, alpha=0.0),
    "30 layers": partial(networks, 30, 2.0, number=2),
    "one rank": [([50, 20, 70], 16 * 140 + 4 * 90, 1, 1e-5, BETA, [1e-5, 2e-5, 1e-5])],
}


@cache
def shortest(sizes: tuple[int, ...], memory: int, ranks: int, *link: Any) -> float:
    model = Model.of(sizes, memory, ranks, *link)
    return step_seconds(model, best_units(model))


def units_of(answer: Any, layers: int) -> list[Unit]:
    """None that is empty, each layer once, in order; nothing where it is not so."""
    units = answer if isinstance(answer, list) and all(isinstance(u, list) and u for u in answer) else []
    return [(u[0], u[-1] + 1) for u in units] if [i for u in units for i in u] == list(range(layers)) else []


def late(call: tuple[Any, ...], answer: Any) -> tuple[float, str]:
    """By how much the step is longer than it could be, and what is to say of it. Infinite where it cannot be."""
    model, units = Model.of(*call), units_of(answer, len(call[0]))
    if not units:
        return float("inf"), f"is not the layers 0 to {model.layers - 1}, each in one unit, in order."
    if not model.memory >= (needed := most_bytes(model, units)):
        return float("inf"), f"needs {needed:,} bytes, and there are {model.memory:,}."
    sizes, *others, seconds = call
    takes, could = step_seconds(model, units), shortest(tuple(sizes), *others, tuple(seconds))
    return takes / could, f"takes {takes:.4g} s a step; {could:.4g} s is possible."


def examine(seen: Seen) -> Fault | None:
    """The first of the answers that are not good enough; how near the others are earns a part."""
    calls, answers = drawn(TRIED, seen.case), seen.returned[0]
    rows = [(*late(call, answer), answer) for call, answer in zip(calls, answers, strict=True)]
    wrong = [(told, answer) for ratio, told, answer in rows if ratio > RIGHT]
    if not wrong:
        return None
    earned = sum(1.0 if ratio <= RIGHT else 0.5 * (ratio <= NEAR) for ratio, *_ in rows) / len(rows)
    told, answer = wrong[0]
    return Fault("wrong-values", f"With {seen.case}: {answer!r:.70} {told}", earned=earned)


EXERCISE = arithmetic(
    TRIED, {"one rank"}, number=5, core=False, title="Choose the units", points=4, minutes=35, values=1.0,
    parameters="sizes, memory, ranks, alpha, beta, seconds", asked="a list of lists of layer numbers",
    reference="lockstep.cost.units:choose_units", examine=examine, agrees=lambda answer, want: True,
    right=lambda *call: None,
)  # fmt: skip
