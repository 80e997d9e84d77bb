"""Which knob of a fit counts? The fits' CPU seconds are written down: most are told, some are really spent."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.plain import plain
from lockstep.classical.parallelism import KINDS
from lockstep.classical.scripted import Script, performed, played

PLAIN = (Script(), Script("openmp"), Script("blas"), Script("n_jobs", share=0.95), Script("n_jobs", "children", 0.95))
MISLEADING = (
    Script(vain=0.6),
    Script("openmp", vain=0.3),
    Script("openmp", share=0.3, vain=0.6),  # a third of its work is no fifth of all that is spent
    Script(threads=4),  # a pool that has nothing to do
    Script("blas", work=0.004, share=0.4),
    Script("openmp", share=0.1, work=30.0),
    Script("n_jobs", "children", share=0.15, work=9.0),
    Script("n_jobs", slower=1.6),
    Script(slower=0.5),
    Script("n_jobs", "children", share=0.3, vain=0.1),
)
REAL = (Script("openmp", work=0.03), Script("n_jobs", work=0.03, share=0.9), Script("n_jobs", "children", 0.9, 0.03))
FITS = {"hidden fits": PLAIN, "hidden fits that mislead": MISLEADING, "fits on this machine": REAL}


def scripts(case: Case) -> list[Script]:
    fits = FITS[case.settings["told"]]
    return random.Random(case.seed).sample(fits, len(fits))


def watch(fn: Callable[..., Any], call: tuple[bool, dict[str, Any]]) -> Any:
    real, script = call
    return plain(fn((performed if real else played)(Script(**script))))


def steps(real: bool, script: dict[str, Any]) -> str:
    """What there was to be seen of a fit."""
    fit = Script(**script)
    turned = [f"{fit.elsewhere(**{knob: 2}):.2f} with {knob}=2" for knob in ("openmp", "blas", "n_jobs")]
    _, helpers, children = fit.seconds(n_jobs=2)
    return (
        f"its .elsewhere is {fit.elsewhere():.2f} with every knob at 1, {', '.join(turned)}; there helpers spend "
        f"{helpers:.2g} s, and children {children:.2g} s."
    )


EXERCISE = Exercise(
    number=1,
    title="What runs in parallel?",
    points=3,
    minutes=25,
    parameters="measure",
    reference="lockstep.classical.parallelism:classify_parallelism",
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": name}) for name in FITS],
    inputs=lambda case, rank: tuple((FITS[case.settings["told"]] is REAL, asdict(s)) for s in scripts(case)),
    watch=watch,
    wanted=lambda case: [script.kind for script in scripts(case)],
    asked=f"one of {', '.join(map(repr, KINDS))}",
    steps=steps,
    values=1.0,
    alike=lambda seen: FITS[seen.case.settings["told"]] is REAL or seen.returned[0],
    hints=(
        ("ZeroDivisionError", "With every knob at 1 others may do nothing at all, and a ratio to nothing is no number. "
         "Compare by a difference: .elsewhere with a knob at 2, less .elsewhere with every knob at 1."),
    ),
    worlds=(1,),
    pure=True,
    real=True,
)  # fmt: skip
