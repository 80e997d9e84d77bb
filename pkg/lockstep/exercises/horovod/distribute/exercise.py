"""A serial training script on Horovod: rows, weights, updates and checkpoints are compared with serial training."""

from dataclasses import replace

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Exercise
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
BATCH = {1: 5, 2: 4, 3: 3}
COSTS = (
    Rule("not-by-horovod", lambda e: e["reduced"] < e["needed"], "in {steps} steps Horovod all-reduces {reduced} "
         "numbers; the gradients are {needed}. Let it carry them."),
    Rule("reduced-twice", lambda e: e["reduced"] > 1.5 * e["needed"], "in {steps} steps Horovod all-reduces {reduced} "
         "numbers; the gradients are {needed}. Each has to travel once."),
    Rule("late-broadcasts", lambda e: e["late_broadcasts"], "there are {late_broadcasts} broadcasts after the first "
         "all-reduce. Ranks that begin alike and take the same steps stay alike."),
)  # fmt: skip
HINTS = (
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
    number=1, title="From one process to K", points=5, minutes=35, values=0.8, worlds=(1, 2, 3, 4), of="the training",
    parameters="model, dataset, checkpoint, epochs, batch, rate, save",
    reference="lockstep.with_horovod.script:distribute", cases=cases,
    inputs=lambda case, rank: task(case).arguments(rank),
    examine=examine, economise=travels, watch=lambda fn, given: observed(getattr(fn, "func", fn), given),
    real=True, needs=require, loads=MODULES, hints=HINTS,
)  # fmt: skip
