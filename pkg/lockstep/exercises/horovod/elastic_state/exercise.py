"""Elastic training on real workers: judged by the parameters that survive, by the rows of each step, by the commits."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.horovod.elastic_rules import COSTS, RULES, told
from lockstep.exercises.horovod.survival import Task, observed
from lockstep.with_horovod.available import require
from lockstep.with_horovod.elastic import ELASTIC

CASES = {  # steps, every, workers, kill, add
    "1 worker": (5, 2, 1, {}, None),
    "2 workers, of which rank 1 is killed at step 5": (8, 3, 2, {1: 5}, None),
    "3 workers, of which rank 0 is killed at step 3": (7, 3, 3, {0: 3}, None),
    "4 workers, of which rank 2 is killed at step 1": (5, 4, 4, {2: 1}, None),
    "2 workers, and a third one that is added": (9, 3, 2, {}, 4),
    "2 workers, of which rank 0 is killed at step 3; another one is added": (10, 2, 2, {0: 3}, 5),
}


def task(case: Case) -> Task:
    steps, every, workers, kill, add = CASES[str(case)]
    return Task(case.seed, steps, every, workers, kill, add)


def examine(seen: Seen) -> Fault | None:
    return told(RULES, task(seen.case), seen)


EXERCISE = Exercise(
    number=5, core=False, title="A state that loses no step", points=4, minutes=25, worlds=(1,),
    parameters="model, optimizer, batches, every", reference="lockstep.with_horovod.elastic_training:elastic_state",
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t == "1 worker"}) for t in CASES],
    inputs=lambda case, rank: [(task(case),)], pure=True, values=Values(share=0.75, examine=examine),
    costs=Costs(economise=lambda seen: [fault for fault in [told(COSTS, task(seen.case), seen)] if fault]),
    run=Run(
        timeout=25.0, watch=lambda fn, call: observed(fn, *call), real_machine=True, require=require, preload=ELASTIC,
        compare_arguments=False,
    ),
)  # fmt: skip
