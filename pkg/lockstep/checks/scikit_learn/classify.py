"""``classify_parallelism``: real fits are measured by the learner's experiment. A wrong rule is recognised by what it
would answer, and by which measurements it took and what it looked at."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, fault_of, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.scikit_learn.handed import named
from lockstep.checks.values import told
from lockstep.classical.usage import Usage
from lockstep.errors import UsageError

POINTS = 3
KINDS = ("serial", "openmp", "blas", "threads", "processes")
TRUTH = {  # of the fits in hidden.py
    "blas": "blas",
    "serial": "serial",
    "threads": "threads",
    "burner": "serial",  # a thread of it burns CPU time, whatever the knobs say
    "openmp": "openmp",
    "processes": "processes",
}
KNOBS = ("openmp", "blas", "n_jobs")
TRIES = 3  # on a busy machine a measurement may mislead even a right answer


def _cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, settings={"told": f"{len(TRUTH)} hidden fits"})]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    names = sorted(TRUTH)
    random.Random(case.seed).shuffle(names)
    return tuple((name,) for name in names)


class _Noted(Usage):
    """A Usage that writes down which of its fields are looked at."""

    def noting(self, read: set[str]) -> _Noted:
        object.__setattr__(self, "_read", read)
        return self

    def __getattribute__(self, name: str) -> Any:
        if name in Usage.__dataclass_fields__:
            object.__getattribute__(self, "__dict__").get("_read", set()).add(name)
        return super().__getattribute__(name)


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    from lockstep.checks.scikit_learn.hidden import hidden
    from lockstep.classical.knobs import measuring

    real = measuring(hidden(arguments[0]))
    real(2, 2, 2)  # whatever happens once only, happens here
    settings: list[list[int]] = []
    read: set[str] = set()

    def measure(openmp: int = 1, blas: int = 1, n_jobs: int = 1) -> Usage:
        _allowed({"openmp": openmp, "blas": blas, "n_jobs": n_jobs})
        settings.append([openmp, blas, n_jobs])
        return _Noted(**asdict(real(openmp, blas, n_jobs))).noting(read)

    for _ in range(TRIES):
        answer = plain(fn(measure))
        if answer == TRUTH[arguments[0]] or not settings:
            break
    return {"answer": answer, "settings": settings[:100], "read": sorted(read)}


def _allowed(knobs: dict[str, Any]) -> None:
    for name, value in knobs.items():
        if type(value) is not int or value < 1:
            raise UsageError(
                f"measure({name}={value!r}): a knob is a number of threads or processes, 1 or more.",
                "Turn one knob to 2, and leave the others at 1.",
                "impossible-knob",
            )


def _rows(seen: Seen) -> list[tuple[str, dict[str, Any]]]:
    return [(name, answer) for (name,), answer in zip(_calls(seen.case, 0), seen.returned[0], strict=True)]


def _examine(seen: Seen) -> Fault | None:
    rows = _rows(seen)
    odd = next((a["answer"] for _, a in rows if a["answer"] not in KINDS), None)
    if any(a["answer"] not in KINDS for _, a in rows):
        return Fault("wrong-type", f"It returns {told(odd)}. Return one of {', '.join(map(repr, KINDS))}.")
    wrong = [(name, a["answer"]) for name, a in rows if a["answer"] != TRUTH[name]]
    if not wrong:
        return None
    begin = f"{len(rows) - len(wrong)} of {len(rows)} hidden fits are named rightly. "
    by_way = _way(rows)
    if by_way:
        return Fault(by_way.misconception, begin + by_way.message)
    for id, message, would_answer in WRONG_RULES:
        if all(a["answer"] in would_answer.get(name, (TRUTH[name],)) for name, a in rows):
            return Fault(id, begin + message)
    by_look = _looked_at({field for _, a in rows for field in a["read"]})
    if by_look:
        return Fault(by_look.misconception, begin + by_look.message)
    name, answer = wrong[0]
    return Fault("wrong-kind", f'{begin}You call a fit "{answer}" that is "{TRUTH[name]}". {_RULE}')


_RULE = (
    "Measure with every knob at 1, then with one knob at 2 after another. The knob that counts is the one with which "
    "others take over a larger share of the CPU time."
)


def _way(rows: Sequence[tuple[str, dict[str, Any]]]) -> Fault | None:
    """What is wrong with the experiment itself."""
    settings = [setting for _, a in rows for setting in a["settings"]]
    read = {field for _, a in rows for field in a["read"]}
    if not settings:
        return Fault("never-measures", "You never call measure. " + _RULE)
    if not any(sum(n > 1 for n in setting) == 1 for setting in settings):
        return Fault("knobs-together", "You never turn up one knob alone, so nobody can tell which of them did it. "
                     + _RULE)  # fmt: skip
    if "wall" in read and not read & {"main", "helpers", "children", "elsewhere", "cpu"}:
        return Fault("wall-clock", "You decide by the clock on the wall. It tells how busy this machine is, and a fit "
                     "that more threads slow down uses them all the same. Look at who spent the CPU time.")  # fmt: skip
    if read <= {"threads", "workers"} and read:
        return Fault("counts-threads", "You count threads. Pools of threads live on idle from one fit to the next: a "
                     "thread that is there need not work. Look at who spent the CPU time.")  # fmt: skip
    if not read & {"children", "elsewhere", "cpu"}:
        return Fault("forgets-children", "Work that goes to other processes is in `children`, not in `helpers`.")
    missing = [knob for at, knob in enumerate(KNOBS) if not any(setting[at] > 1 for setting in settings)]
    if missing:
        return Fault("knob-forgotten", f"You never turn up {' and '.join(missing)}. " + _RULE)
    return None


def _looked_at(read: set[str]) -> Fault | None:
    """What the experiment looks at that leads astray; told only where answers are wrong."""
    if "wall" in read and "main" not in read:
        return Fault("wall-clock", "You look at the clock on the wall. It tells how busy this machine is. Look at who "
                     "spent the CPU time, by shares.")  # fmt: skip
    if "threads" in read and "helpers" not in read:
        return Fault("counts-threads", "You count threads. A thread that is there need not work. Look at who spent "
                     "the CPU time: how much of it is in `helpers`?")  # fmt: skip
    if "main" not in read:
        return Fault("absolute-seconds", "You look at seconds, and not at how many there are in all: a short fit "
                     "spends few, whoever works. Compare shares: `.elsewhere` with a knob at 2, and with every knob "
                     "at 1.")  # fmt: skip
    return None


_ANY = KINDS
WRONG_RULES: Sequence[tuple[str, str, dict[str, tuple[str, ...]]]] = (
    ("spinning-is-work", "One of the others is serial, and has a thread that burns CPU time in vain, with every knob "
     "at 1 too. What a knob does is what comes on top of that: compare with measure().", {"burner": _ANY}),
    ("forgets-children", "Work that goes to other processes is in `children`, not in `helpers`.",
     {"processes": ("serial",)}),
    ("n_jobs-is-processes", "n_jobs may start processes or threads: which of `children` and `helpers` grew?",
     {"threads": ("processes",)}),
    ("n_jobs-is-threads", "n_jobs may start processes or threads: which of `children` and `helpers` grew?",
     {"processes": ("threads",)}),
    ("exchanged", "You have threads and processes exchanged: work of threads is in `helpers`, that of processes in "
     "`children`.", {"threads": ("processes",), "processes": ("threads",)}),
    ("n_jobs-is-believed", "You answer threads or processes because there is an n_jobs. Every fit here takes n_jobs; "
     "some ignore it.", {"serial": ("threads", "processes"), "burner": ("threads", "processes"),
                         "openmp": ("openmp", "threads", "processes"), "blas": ("blas", "threads", "processes"),
                         "threads": ("threads", "processes"), "processes": ("threads", "processes")}),
    ("takes-first", "OpenMP and BLAS are exchanged: each has a knob of its own.",
     {"openmp": ("blas",), "blas": ("openmp",)}),
)  # fmt: skip


def _cost(seen: Seen) -> list[Fault]:
    fault = _way(_rows(seen))
    return [fault] if fault else []


HINTS = (
    (r"^ZeroDivisionError: ", "With every knob at 1 there may be no work at all for others, and a ratio to nothing is "
     "no number. Compare by a difference: .elsewhere with a knob at 2, less .elsewhere with every knob at 1."),
)  # fmt: skip


def _judge(observation: Observation) -> list[Finding]:
    """A third of the points if all fits but one are named rightly."""
    found = named(mark(observation, POINTS, _examine, _cost), observation, HINTS)
    seen = next(iter(observation), None)
    if seen is None or seen.failure or not found or not fault_of(seen, _examine):
        return found
    right = sum(a["answer"] == TRUTH[name] for name, a in _rows(seen))
    earned = 1.0 if right == len(TRUTH) - 1 and not _way(_rows(seen)) else 0.0
    return [Finding(found[0].message, found[0].misconception, POINTS - earned, found[0].case), *found[1:]]


CLASSIFY = Exercise(
    id="scikit_learn.classify_parallelism",
    title="What runs in parallel?",
    points=POINTS,
    minutes=25,
    parameters="measure",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.classical.parallelism:classify_parallelism",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
)
