"""A serial training script on Horovod: rows, weights, updates and checkpoints are compared with serial training."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lockstep.checks.argument_changes import Compared
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule, first
from lockstep.checks.exercise import Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.wording import counted, listed
from lockstep.exercises.horovod.replayed import first_fact
from lockstep.exercises.horovod.training import TOLD
from lockstep.experiments.horovod.observed_script import observed
from lockstep.experiments.horovod.task import Task
from lockstep.with_horovod.available import MODULES, require

PLAIN, RESUMED, FROZEN, BOTH = (False, False), (True, False), (False, True), (True, True)  # checkpoint, frozen
SAID = ("with a checkpoint", "with a layer that is not trained")
TRIED = {1: [BOTH], 2: [RESUMED, FROZEN], 3: [BOTH], 4: [PLAIN, BOTH]}
# It trains the model. And torch's load_state_dict does not copy momentum, which then changes with each step.
MAY_CHANGE = ("model.values", "model.gradient", "model.hooks", "model.shared", "checkpoint.values")
BATCH = {1: 5, 2: 4, 3: 3}
COSTS = (
    Rule("not-by-horovod", lambda e: e["reduced"] < e["needed"], "in {steps} steps Horovod all-reduces {reduced} "
         "numbers; the gradients are {needed}. Let it carry them."),
    Rule("reduced-twice", lambda e: e["reduced"] > 1.5 * e["needed"], "in {steps} steps Horovod all-reduces {reduced} "
         "numbers; the gradients are {needed}. Each has to travel once."),
    Rule("other-collectives", lambda e: e["gathered"] > 0.5 * e["needed"], "after the first all-reduce, {gathered} "
         "numbers go into all-gathers and the like. The gradients travel in all-reduces, and nothing else needs to."),
    Rule("late-broadcasts", lambda e: e["late_broadcasts"], "there are {late_broadcasts} broadcasts after the first "
         "all-reduce. Ranks that begin alike and take the same steps stay alike."),
)  # fmt: skip
HINTS = (
    ("crashed:Deadlock", "Does each rank call the same operations, and are their names the same? hvd.broadcast_object "
     "takes its name from the type of what it is given: pass name=, where rank 0 has a dict and the others None."),
    (r"^ValueError: invalid params of type", "hvd.broadcast_parameters takes a dict, such as model.state_dict(), or a "
     "list of pairs."),
    (r"^TypeError: 'NoneType' object is not subscriptable", "Is it the checkpoint? It is None on all ranks but 0, and "
     "on rank 0 as well if there is none."),
    (r"^AttributeError: 'NoneType' object has no attribute", "Is it a gradient? That of a parameter that is not "
     "trained is None."),
)  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    found = []
    for n, row in enumerate(TRIED.get(ranks, [BOTH])):
        told = [text for on, text in zip(row, SAID, strict=True) if on]
        own = {"batch": BATCH.get(ranks, 2), "steps": 2 + n, "checkpoint": row[0], "frozen": row[1]}
        settings = {"task": own, "told": ", ".join([counted(ranks, "rank"), *told]), "trivial": ranks == 1}
        found.append(Case(ranks, seed + n, None, settings))
    return found


def task(case: Case) -> Task:
    return Task(case.seed, case.ranks, **case.settings["task"])


def watch(fn: Callable[..., Any], given: tuple[Any, ...]) -> Evidence:
    """It is called without a group, and its arguments are compared."""
    own = fn if isinstance(fn, Compared) else Compared(fn)
    own.fn = getattr(own.fn, "func", own.fn)
    return observed(own, given)


def examine(seen: Seen) -> Fault | None:
    name, fact = first_fact(task(seen.case), seen.returned) or ("", {})
    fact = {key: listed(value) if isinstance(value, list) else value for key, value in fact.items()}
    earned = 0.75 if name == "shut-down" else 0.0
    return Fault(name, f"With {seen.case}: {TOLD[name].format(**fact)}", earned=earned) if name else None


def travels(seen: Seen) -> list[Fault]:
    """On rank 0, where there are others."""
    own = task(seen.case)
    steps, learned = own.epochs * own.steps, sum(p.numel() for p in own.model(0).parameters() if p.requires_grad)
    fact = seen.returned[0]["carried"] | {"steps": steps, "needed": steps * learned}
    fault = first(COSTS, fact) if seen.case.size > 1 else None
    return [replace(fault, message=f"With {seen.case}: {fault.message}")] if fault else []


EXERCISE = Exercise(
    number=1,
    title="From one process to K",
    points=5,
    minutes=35,
    worlds=(1, 2, 3, 4),
    parameters="model, dataset, checkpoint, epochs, batch, rate, save",
    reference="lockstep.with_horovod.script:distribute",
    cases=cases,
    inputs=lambda case, rank: task(case).arguments(rank),
    values=Values(share=0.8, examine=examine, may_change=MAY_CHANGE),
    costs=Costs(algorithm="the training", economise=travels),
    run=Run(
        watch=watch,
        real_machine=True,
        require=require,
        preload=MODULES,
    ),
    feedback=Feedback(hints=HINTS),
)
