"""Catch a starved loop: the learner writes the test, and it is tried on loops that starve, and on some that look so."""

from lockstep.checks.catch import Candidates, watch
from lockstep.checks.exercise import Exercise, Run, Values
from lockstep.exercises.bottlenecks.recorded_loops import loop

LOOPS = {
    "rejects-right-answers": {
        "no workers": "starves: nothing is loaded while the GPU computes",
        "one worker": "starves: its loader is ahead, and slower than the GPU",
    },
    "rejects-late-ones": {"from some step on": "starves from step 250 on"},
    "rejects-rare-ones": {"now and then": "starves once in 40 steps, for longer than five steps take"},
    "rejects-small-ones": {"a little": "starves for about 11 % of the time"},
    "rejects-mixed-ones": {"also idle": "starves, and is idle for another reason, too"},
    "misses-healthy-ones": {
        "prefetch": "loads ahead, and never waits",
        "rarely": "waits for a batch once in 100 steps, less than 2 % of the time",
    },
    "misses-waits-behind-kernels": {
        "behind kernels": "is in next(loader) for half of the time, while kernels of earlier steps run"
    },
    "misses-other-idle-times": {
        "reads the loss": "is idle for half of the time: Python works between .item() and the next launch",
        "slow copies": "is idle for half of the time: it waits for copies",
    },
    "misses-first-batches": {"first batches": "waits for its first batches, and for none after them"},
    "misses-both-apart": {"both apart": "waits for batches while kernels run, and is idle while Python works"},
}
HINT = " It finds no loop that starves. Does it run enough steps, and look at the right lane and name?"
STARVED = Candidates("a loop", LOOPS, lambda name: (loop(name),), ("loops that starve", "loops that don't"), HINT)

EXERCISE = Exercise(
    number=11, kind="catch", core=False, title="Catch a starved loop", points=3, minutes=20, parameters="fn",
    reference="lockstep.bottlenecks.starving:is_starved", cases=STARVED.cases, inputs=STARVED.inputs, pure=True,
    worlds=(1,), values=Values(examine=STARVED.examine, share=1.0), run=Run(watch=watch, timeout=30.0),
)  # fmt: skip
