"""Which knob of a fit counts? The fits' CPU seconds are written down: most are told, some are really spent."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.classical.parallelism import KINDS
from lockstep.classical.scripted import Script, performed, played

PLAIN = (Script(), Script("openmp"), Script("blas"), Script("n_jobs", share=0.95), Script("n_jobs", "children", 0.95))
MISLEADING = (
    Script(vain=0.6),
    Script("openmp", vain=0.3),
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
KNOBS = ("openmp", "blas", "n_jobs")


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": name}) for name in FITS]


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    scripts = [(case.settings["told"], asdict(script)) for script in FITS[case.settings["told"]]]
    return tuple(random.Random(case.seed).sample(scripts, len(scripts)))


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    name, script = call
    real = (performed if FITS[name] is REAL else played)(Script(**script))
    settings: list[list[Any]] = []

    def measure(openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Any:
        settings.append([plain(knob) for knob in (openmp, blas, n_jobs)])
        return real(openmp, blas, n_jobs) if possible(settings[-1]) else None

    try:
        answer = plain(fn(measure))
    except Exception:
        if all(map(possible, settings)):
            raise
        answer = None
    return {"answer": answer, "settings": settings[:100]}


def possible(setting: list[Any]) -> bool:
    return all(type(knob) is int and knob >= 1 for knob in setting)


def examine(seen: Seen) -> Fault | None:
    rows = [(Script(**script), row) for (_, script), row in zip(inputs(seen.case, 0), seen.returned[0], strict=True)]
    settings = [setting for _, row in rows for setting in row["settings"]]
    begin = f"With {seen.case}: "
    odd = next((s for s in settings if not possible(s)), None)
    if odd:
        asked = ", ".join(f"{knob}={value!r}" for knob, value in zip(KNOBS, odd, strict=True))
        return Fault("impossible-knob", f"{begin}you call measure({asked}). A knob is a number of workers, 1 or more.")
    wrong = [(script, row["answer"]) for script, row in rows if row["answer"] != script.kind]
    if not wrong:
        return None
    if not settings:
        return Fault("never-measures", f"{begin}you never call measure.")
    script, answer = next((w for w in wrong if w[1] not in KINDS), wrong[0])
    if answer not in KINDS:
        return Fault("wrong-type", f"{begin}it returns {told(answer)}. Return one of {', '.join(map(repr, KINDS))}.")
    alone = {at for setting in settings for at in range(3) if setting[at] > 1 and sum(n > 1 for n in setting) == 1}
    if not alone:
        return Fault("knobs-together", f"{begin}you never turn up one knob alone: nobody can tell which one it was.")
    left = [knob for at, knob in enumerate(KNOBS) if at not in alone]
    if left:
        return Fault("knob-forgotten", f"{begin}you never turn up {' or '.join(left)} alone.")
    message = f'{begin}you call a fit "{answer}" that is "{script.kind}" ({len(wrong)} of {len(rows)} are wrong). '
    return Fault("wrong-values", message + shares(script, answer))


def shares(script: Script, answer: str) -> str:
    """What there was to be seen."""
    turned = [f"{script.elsewhere(**{knob: 2}):.2f} with {knob}=2" for knob in KNOBS]
    message = f"Its .elsewhere is {script.elsewhere():.2f} with every knob at 1, {', '.join(turned)}."
    if {script.kind, answer} & {"threads", "processes"}:
        _, helpers, children = script.seconds(n_jobs=2)
        message += f" There helpers spend {helpers:.2g} s, and children {children:.2g} s."
    return message


EXERCISE = Exercise(
    number=1,
    title="What runs in parallel?",
    points=3,
    minutes=25,
    parameters="measure",
    reference="lockstep.classical.parallelism:classify_parallelism",
    cases=cases,
    inputs=inputs,
    watch=watch,
    examine=examine,
    values=1.0,
    alike=lambda seen: FITS[seen.case.settings["told"]] is REAL or [row["answer"] for row in seen.returned[0]],
    hints=(
        ("ZeroDivisionError", "With every knob at 1 others may do nothing at all, and a ratio to nothing is no number. "
         "Compare by a difference: .elsewhere with a knob at 2, less .elsewhere with every knob at 1."),
    ),
    worlds=(1,),
    pure=True,
    real=True,
)  # fmt: skip
