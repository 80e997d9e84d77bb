"""A parameter server with bounded staleness, judged by a vector clock: each w shows which updates it contains."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import messages
from lockstep.checks.values import compare
from lockstep.exercises.without_waiting.clocks import case_of, given, inputs, last, stepwise, watch, whole

TRIED: dict[int, Sequence[dict[str, Any]]] = {  # by ranks; of three speeds, one behind may go while the first waits
    1: [{"steps": [], "units": []}],
    2: [{"steps": [6], "units": [0]}],
    3: [{"steps": [5, 5], "units": [0, 1]}, {"steps": [4, 8], "units": [1, 0], "bound": 10**6, "dtype": "float64"}],
    4: [{"steps": [5, 4, 3], "units": [0, 1, 4], "bound": 1}, {"steps": [6, 2, 7], "units": [0, 0, 1], "bound": 1},
        {"steps": [4, 0, 9], "units": [1, 0, 0], "bound": 2}],
    5: [{"steps": [4, 9], "units": [1, 0], "bound": 3, "group": (1, 2, 4)}],
}  # fmt: skip
WHOLE = (
    Rule("server-computes", lambda e: not e["who"] and e["asked"], "rank 0 calls gradient. Only workers do."),
    Rule("updates", lambda e: e["have"] != e["number"], "the last w has {have:g} times rate·gradient "
         "of worker {who}, which takes {number} steps."),
    Rule("steps", lambda e: e["asked"] != e["steps"], "worker {who} calls gradient(w, step) for the steps {asked}; "
         "its steps are {steps}."),
)  # fmt: skip
STEPWISE = (
    Rule("other-numbers", lambda e: not e["intact"], "in its step {step} worker {who} has a w in which numbers differ "
         "that no gradient has changed. All of w travels, in its shape and in its dtype."),
    Rule("own-updates", lambda e: e["own"] and e["done"] != e["needed"], "in its step {step} worker {who} has a w with "
         "{done:g} of its own updates."),
    Rule("old-w", lambda e: e["step"] and e["done"] < e["made"], "worker {who} begins its step {step} with an old w: "
         "of worker {other} it has {done:g} updates; the server had made {made:g} by then. Send w as it is then, "
         "and begin with the w that has come."),
    Rule("bound", lambda e: e["done"] < e["needed"], "worker {who} begins its step {step} with a w that has {done:g} "
         "updates of worker {other}; with bound={bound} it has at least {needed}."),
)  # fmt: skip
WAIT = Rule("needless-wait", lambda e: e["late"], "worker {who} waits with its step {step} for update {done:g} of "
            "worker {other}; bound={bound} asks for {needed}.")  # fmt: skip
LARGEST = Measure(lambda seen: max((m.nbytes for m in messages(seen.trace)), default=0), "byte", "a message has {}",
                  "{} a message", "message bytes")  # fmt: skip
HINT = ("Look for a worker that waits for w and is not served: each gradient may be the one that several have waited "
        "for, and nobody waits for a worker that has made all its steps, or has none.")  # fmt: skip


def told(seen: Seen, fault: Fault | None) -> list[Fault]:
    return [replace(fault, message=f"With {seen.case}: {fault.message}", telling=True)] if fault else []


def examine(seen: Seen) -> Fault | None:
    """The last w, and by their clocks all that workers were given."""
    w, others = seen.returned[seen.case.members[0]]["w"], [None] * (seen.case.size - 1)
    fault = compare(seen, [w, *others], [last(seen.case), *others])
    if seen.case.size == 1 or (fault and fault.misconception != "wrong-values"):
        return fault
    steps = list(stepwise(seen))  # where numbers are not intact, no count of updates means anything
    why = first(STEPWISE[:1], *steps) or first(WHOLE, *whole(seen, w)) or first(STEPWISE, *steps)
    return next(iter(told(seen, why)), fault)


def most(case: Case) -> int:
    """Messages."""
    return sum(2 * steps + 3 for steps in case.settings["steps"])


def of_one(case: Case) -> int:
    """Bytes of a message at most."""
    return (last(case).numel() + 2) * last(case).itemsize


EXERCISE = Exercise(
    number=2,
    title="A parameter server",
    points=5,
    minutes=35,
    parameters="gradient, w, steps, rate, bound, group=None",
    reference="lockstep.without_waiting.parameter_server:parameter_server",
    cases=lambda ranks, seed: [case_of(ranks, seed + n, **tried) for n, tried in enumerate(TRIED[ranks])],
    worlds=tuple(TRIED),
    inputs=inputs,
    values=Values(examine=examine, share=0.6, may_change=["w.shared"]),
    costs=Costs(
        algorithm="a parameter server",
        economise=lambda seen: told(seen, first([WAIT], *stepwise(seen))),
        budgets=(
            Budget("collectives", lambda case: 0, advice="Use send and recv.", remarks=False),
            Budget("barriers", lambda case: 0, advice="Use send and recv."),
            Budget("all messages", most, "two a step, and three a worker", remarks=False),
            Budget(LARGEST, of_one, "those of w and of two more numbers", remarks=False),
            Budget("all bytes", lambda case: most(case) * of_one(case), remarks=False),
        ),
    ),
    comparison=Comparison(
        alike=lambda seen: [
            seen.returned[seen.case.members[0]]["w"],
            [[s.clock for s in steps] for steps in given(seen)],
        ],
    ),
    run=Run(watch=watch, any_source=True),
    feedback=Feedback(hints=[("crashed:Deadlock", HINT)]),
)
