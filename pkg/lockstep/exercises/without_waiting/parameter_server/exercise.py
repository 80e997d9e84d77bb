"""A parameter server with bounded staleness, judged by a vector clock: each w tells which updates it has."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.rules import Rule, first
from lockstep.checks.values import compare
from lockstep.exercises.without_waiting.clocks import case_of, clocks, inputs, last, of_ranks, of_steps, watch

NEVER = 10**6  # a bound that nobody reaches
TRIED: dict[int, Sequence[dict[str, Any]]] = {  # by ranks; of three speeds, one behind may go while the first waits
    1: [{"steps": [], "units": []}],
    2: [{"steps": [6], "units": [0]}],
    3: [{"steps": [5, 5], "units": [0, 1]}, {"steps": [4, 8], "units": [1, 0], "bound": NEVER, "dtype": "float64"}],
    4: [{"steps": [5, 4, 3], "units": [0, 1, 4], "bound": 1}, {"steps": [6, 2, 7], "units": [0, 0, 1], "bound": 1},
        {"steps": [4, 0, 9], "units": [1, 0, 0], "bound": 2}],
    5: [{"steps": [4, 9], "units": [1, 0], "bound": 3, "group": (1, 2, 4)}],
}  # fmt: skip
WHOLE = (
    Rule("server-computes", lambda e: not e["who"] and e["asked"], "rank 0 calls gradient. Only workers do."),
    Rule("updates", lambda e: e["have"] != e["steps"], "the last w has {have:g} times rate·gradient of worker {who}, "
         "which takes {takes}."),
    Rule("steps", lambda e: e["asked"] != list(range(e["steps"])), "worker {who} takes {takes}, and calls "
         "gradient(w, step) with step = {asked}."),
)  # fmt: skip
STEPWISE = (
    Rule("own-updates", lambda e: e["own"] and e["done"] != e["step"], "in its step {step} worker {who} has a w with "
         "{done:g} of its own updates."),
    Rule("old-w", lambda e: e["done"] < e["made"], "worker {who} begins its step {step} with an old w: it has {done:g} "
         "updates of worker {other}, and the server had made {made:g} before it sent it. Send w as it is then."),
    Rule("bound", lambda e: not e["own"] and e["done"] < e["needed"], "worker {who} begins its step {step} with a w "
         "that has {done:g} updates of worker {other}; with bound={bound} it has at least {needed}."),
)  # fmt: skip
WAITS = (
    Rule("needless-wait", lambda e: e["late"], "worker {who} waits with its step {step} until worker {other} has done "
         "{far}; bound={bound} asks for {needed}."),
)  # fmt: skip
HINTS = (
    ("crashed:Deadlock", "Look for a worker that waits for w and is not served: each gradient may be the one that "
     "several have waited for, and nobody waits for a worker that has made all its steps, or has none."),
)  # fmt: skip


def told(seen: Seen, fault: Fault | None) -> list[Fault]:
    return [replace(fault, message=f"With {seen.case}: {fault.message}", telling=True)] if fault else []


def examine(seen: Seen) -> Fault | None:
    """The last w, and by their clocks all that workers were given."""
    w, others = seen.returned[seen.case.members[0]]["w"], [None] * (seen.case.size - 1)
    fault = compare(seen, [w, *others], [last(seen.case), *others])
    if seen.case.size == 1 or (fault and fault.misconception != "wrong-values"):
        return fault
    return next(iter(told(seen, first(WHOLE, *of_ranks(seen, w)) or first(STEPWISE, *of_steps(seen)))), fault)


def most(case: Case) -> int:
    """Messages."""
    return 2 * sum(case.settings["steps"]) + 3 * (case.size - 1)


EXERCISE = Exercise(
    cases=lambda ranks, seed: [case_of(ranks, seed + n, **tried) for n, tried in enumerate(TRIED[ranks])],
    inputs=inputs,
    watch=watch,
    examine=examine,
    economise=lambda seen: told(seen, first(WAITS, *of_steps(seen))),
    alike=clocks,
    hints=HINTS,
    number=2,
    title="A parameter server",
    points=5,
    minutes=35,
    parameters="gradient, w, steps, rate, bound, group=None",
    reference="lockstep.without_waiting.parameter_server:parameter_server",
    worlds=tuple(TRIED),
    kept=True,
    any_source=True,
    of="a parameter server",
    budgets=(
        Budget("all messages", most, "two a step, and three a worker"),
        Budget("all bytes", lambda case: most(case) * (last(case).numel() + 2) * last(case).itemsize),
    ),
    values=0.6,
)
