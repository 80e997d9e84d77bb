"""Find the straggler in traces of a training: who computes most, longest or last need not be the one."""

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.numbers import exact
from lockstep.data_parallel.stragglers import waited_for
from lockstep.exercises.all_reduce_sgd.steps_with_stragglers import STEPS, by_turns, recorded, traces
from lockstep.exercises.arithmetic import arithmetic

OFTEN = (13, {0: 0.3}), (7, {1: 0.9})  # steps, and how late ranks are in them: the first is last more often
SECOND = (11, {0: 1.0, 2: 0.8}), (9, {1: 1.0, 2: 0.8})  # the third is never last, and waits least
TOGETHER = (12, {0: 1.0, 2: 0.8}), (8, {1: 0.6})  # the first is last by little, and all others wait for it
NEARLY = (11, {0: 1.0}), (9, {1: 1.3, 2: 1.15})  # for the second somebody waits longest, for the first all others do

EXERCISE = arithmetic(
    {
        "one slow rank": traces,
        "another rank that is late once": lambda dice: traces(dice, once=2.5),
        "another rank that is late in the last step": lambda dice: traces(dice, once=2.5, at=STEPS - 1),
        "another rank that begins late": lambda dice: traces(dice, begin=2.5),
        "another rank that has work to do at the end": lambda dice: traces(dice, after=30.0),
        "another rank that is last more often, by less": lambda dice: by_turns(dice, *OFTEN),
        "long all-reduces": lambda dice: by_turns(dice, *OFTEN, seconds=2.0),
        "another rank that is often late, but never last": lambda dice: by_turns(dice, *SECOND),
        "two ranks that are late together": lambda dice: by_turns(dice, *TOGETHER),
        "another rank that is late beside a second one": lambda dice: by_turns(dice, *NEARLY),
        "one rank": lambda dice: [(recorded(dice, 1, [{}] * STEPS),)],
    },
    trivial=("one rank",),
    number=10,
    core=False,
    title="Find the straggler",
    points=2,
    minutes=15,
    parameters="trace",
    reference="lockstep.data_parallel.stragglers:find_straggler",
    values=Values(agrees=exact, share=1.0),
    feedback=Feedback(
        answer="a rank, a whole number,",
        steps=lambda trace: (
            "the others wait for rank 0, 1, ... " + ", ".join(f"{s:.2f}" for s in waited_for(trace)) + " s."
        ),
    ),
)
