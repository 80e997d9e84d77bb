"""Which knob of a fit counts? The fits' CPU seconds are scripted: most are only reported, some are really spent."""

from collections.abc import Callable
from random import Random
from typing import Any

from lockstep.checks.exercise import Comparison, Feedback, Run, Values
from lockstep.checks.plain import plain
from lockstep.classical.parallelism import KINDS
from lockstep.exercises.arithmetic import Calls, arithmetic
from lockstep.exercises.scikit_learn.scripted import Script, performed, played

PLAIN = (Script(), Script("openmp"), Script("blas"), Script("n_jobs", share=0.95), Script("n_jobs", "children", 0.95))
MISLEADING = (
    Script(vain=0.6),
    Script("openmp", vain=0.3),
    Script("openmp", share=0.3, vain=0.6),  # a third of its work is no quarter of all that is spent
    Script(threads=4),  # a pool that has nothing to do
    Script("blas", work=0.004, share=0.4),
    Script("openmp", share=0.1, work=30.0),
    Script("n_jobs", "children", share=0.15, work=9.0),
    Script("n_jobs", slower=1.6),
    Script(slower=0.5),
    Script("n_jobs", "children", share=0.3, vain=0.1),
    Script("n_jobs", "children", share=0.9, vain=0.8),  # who spins burns more than the children work
)
MOVERS = (("openmp", "helpers"), ("blas", "helpers"), ("n_jobs", "helpers"), ("n_jobs", "children"))
AT_THE_LIMIT = tuple(Script(*mover, share, work=2.0) for mover in MOVERS for share in (0.25, 0.23))  # 0.25 is exact
MOVED_TWICE = (  # a knob that is left turned up adds to the next one, or takes work away from it
    Script("blas", share=0.28, also="openmp"),
    Script("n_jobs", "children", 0.28, also="blas"),
    Script("openmp", share=0.28, also="n_jobs"),
    Script("blas", share=0.2, also="openmp"),
    Script("n_jobs", share=0.2, also="blas"),
    Script("openmp", share=0.2, also="n_jobs"),
)
ON_THIS = "fits on this machine"
REAL = (Script("openmp", work=0.03), Script("n_jobs", work=0.03, share=0.9), Script("n_jobs", "children", 0.9, 0.03))


def shuffled(fits: tuple[Script, ...]) -> Callable[[Random], Calls]:
    """How each is measured, and what it does."""
    return lambda dice: [(performed if fits is REAL else played, fit) for fit in dice.sample(fits, len(fits))]


def steps(measured: Any, fit: Script) -> str:
    """What there was to be seen of a fit."""
    turned = [f"{fit.elsewhere(**{knob: 2}):.2f} with {knob}=2" for knob in ("openmp", "blas", "n_jobs")]
    _, helpers, children = fit.seconds(n_jobs=2)
    alone = f"its .elsewhere is {fit.elsewhere():.2f} with every knob at 1, {', '.join(turned)}"
    return f"{alone}; there helpers spend {helpers:.2g} s, and children {children:.2g} s."


EXERCISE = arithmetic(
    {
        "hidden fits": shuffled(PLAIN),
        "hidden fits that mislead": shuffled(MISLEADING),
        "hidden fits at the limit": shuffled(AT_THE_LIMIT),
        "hidden fits that two knobs move": shuffled(MOVED_TWICE),
        ON_THIS: shuffled(REAL),
    },
    right=lambda measured, fit: fit.kind,
    number=1,
    title="What runs in parallel?",
    points=3,
    minutes=25,
    parameters="measure",
    reference="lockstep.classical.parallelism:classify_parallelism",
    values=Values(share=1.0),
    comparison=Comparison(alike=lambda seen: seen.case.settings["told"] == ON_THIS or seen.returned[0]),
    run=Run(watch=lambda fn, call: plain(fn(call[0](call[1]))), real_machine=True),
    feedback=Feedback(answer=f"one of {', '.join(map(repr, KINDS))}", steps=steps),
)
