"""A parameter server with bounded staleness, judged by a vector clock: each w tells which updates it has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare
from lockstep.checks.wording import counted
from lockstep.exercises.without_waiting.clocks import begun, case_of, inputs, start, updates

NEVER = 10**6  # a bound that nobody reaches
TRIED: Mapping[
    int, Sequence[Mapping[str, Any]]
] = {  # by ranks; workers that are slow by turns, that end early, that have nothing to do
    1: [{"steps": []}],
    2: [{"steps": [6]}],
    3: [{"steps": [5, 5], "slow": 2}, {"steps": [4, 8], "bound": NEVER, "slow": 1, "dtype": "float64"}],
    4: [{"steps": [6, 2, 7], "bound": 1, "slow": 3}, {"steps": [4, 0, 9], "bound": 2, "slow": 1}],
    5: [{"steps": [4, 9], "bound": 3, "slow": 1, "group": (1, 2, 4)}],
}


def cases(ranks: int, seed: int) -> list[Case]:
    return [case_of(ranks, seed + n, **tried) for n, tried in enumerate(TRIED[ranks])]


def last(seen: Seen) -> Tensor:
    """The server's w."""
    w: Tensor = seen.returned[seen.case.members[0]]
    return w


def examine(seen: Seen) -> Fault | None:
    """The last w, and by it each w that a worker was given."""
    held = [seen.returned[rank] for rank in seen.case.members]
    fault = compare(seen, held, [start(seen.case), *[None] * (seen.case.size - 1)])
    if seen.case.size == 1 or (fault and fault.misconception != "wrong-values"):
        return fault
    return next((Fault(id, f"With {seen.case}: {told}", telling=True) for id, told in mistakes(seen)), None)


def mistakes(seen: Seen) -> Iterator[tuple[str, str]]:
    steps, bound = seen.case.settings["steps"], seen.case.settings["bound"]
    for who, have in enumerate(updates(seen.case, last(seen)), start=1):
        if have != steps[who - 1]:
            told = f"the last w has {have:g} times rate·gradient of worker {who}"
            yield "updates", f"{told}, which takes {counted(steps[who - 1], 'step')}."
    for who, step, clock in begun(seen.case, last(seen)):
        if not clock:
            yield "steps", f"no gradient(w, {step}) of worker {who} is in the last w."
        elif clock[who - 1] != step:
            yield "own-updates", f"in its step {step} worker {who} has a w with {clock[who - 1]:g} of its own updates."
        for other, done in enumerate(clock or (), start=1):
            needed = min(steps[other - 1], step - bound)
            if other != who and done < needed:
                told = f"worker {who} begins its step {step} with a w that has {done:g} updates of worker {other}"
                yield "bound", f"{told}; with bound={bound} it has at least {needed}."


def waits(seen: Seen) -> Iterator[Fault]:
    """Who is fast has to wait for the slow one only where the bound says so; seen where nothing else takes time."""
    slow, bound = seen.case.settings["slow"], seen.case.settings["bound"]
    for who, step, clock in begun(seen.case, last(seen)) if slow and seen.trace.world == "virtual" else ():
        done = int(clock[slow - 1]) if clock else 0
        if who != slow and done > (enough := max(0, step - bound)):
            told = f"worker {who} waits with its step {step} until worker {slow} has done {counted(done, 'step')}"
            yield Fault("needless-wait", f"With {seen.case}: {told}; bound={bound} asks for {enough}.")


def steps(case: Case) -> int:
    return sum(case.settings["steps"])


def most(case: Case) -> int:
    """Messages."""
    return 2 * steps(case) + 3 * (case.size - 1)


EXERCISE = Exercise(
    number=2,
    title="A parameter server",
    points=5,
    minutes=35,
    parameters="gradient, w, steps, rate, bound, group=None",
    reference="lockstep.without_waiting.parameter_server:parameter_server",
    worlds=tuple(TRIED),
    cases=cases,
    inputs=inputs,
    examine=examine,
    kept=True,
    any_source=True,
    alike=lambda seen: last(seen),
    of="a parameter server",
    budgets=(
        Budget("all messages", most, "two a step, and three a worker"),
        Budget("all bytes", lambda case: most(case) * (start(case).numel() + 2) * start(case).itemsize),
    ),
    economise=lambda seen: list(waits(seen))[:1],
    values=0.6,
)
