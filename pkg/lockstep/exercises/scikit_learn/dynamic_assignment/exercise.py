"""Rows of an image go to whoever is idle: judged by who had nothing to do while a row was left, in virtual time."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.checks.wording import counted
from lockstep.classical.assignment import mandelbrot_rows
from lockstep.classical.pool import Misused, Pool
from lockstep.show.assignment import drawn

SETTINGS = ((40, 4), (9, 4), (3, 5), (25, 2), (6, 1), (0, 3))  # rows, workers


def settings(case: Case) -> tuple[int, int, list[int], list[int]]:
    """Rows, workers, what each row takes, and what it gives. The heavy rows are anywhere."""
    (rows, workers), dice = SETTINGS[case.settings["at"]], Random(case.seed)
    return rows, workers, dice.sample(mandelbrot_rows(rows, 24, 60), rows), dice.sample(range(1000), rows)


def watch(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
    pool, returned = Pool(*call[1:]), None
    with suppress(Misused):
        returned = fn(call[0], pool)
    misused = [pool.misused.kind, pool.misused.told] if pool.misused else ["", ""]
    return {"returned": plain(returned), "misused": misused, "spans": [list(s) for s in pool.started],
            "fetched": len(pool.fetched), "idle": [list(i) for i in pool.idle[:1]]}  # fmt: skip


def examine(seen: Seen) -> Fault | None:
    (answer,), (rows, _, _, right) = seen.returned[0], settings(seen.case)
    (kind, said), started, have = answer["misused"], len(answer["spans"]), answer["returned"]
    off = [row for row in range(rows) if isinstance(have, list) and len(have) == rows and have[row] != right[row]]
    wrong = f"{told(have[off[0]])} stands in place {off[0]}, not {right[off[0]]}" if off else f"you return {told(have)}"
    rules = (
        (kind, f"misused-{kind}", f"{said}."),
        (started < rows, "rows-left", f"{rows - started} of {rows} rows were never started."),
        (answer["fetched"] < rows, "never-fetched", f"{started - answer['fetched']} of {rows} rows were started, and "
         "nobody waited for them: call wait() once for each row."),
        (have != right, "wrong-results", f"{wrong}. Return a list with the pixels of row 0 first, then those of row 1, "
         "and so on: wait() tells whose they are."),
    )  # fmt: skip
    return next((Fault(id, f"With {seen.case}: {text}", telling=True) for holds, id, text in rules if holds), None)


def economise(seen: Seen) -> list[Fault]:
    said = "at step {2:,.0f} you waited with {1} left and worker {0} idle. Start a row on every idle worker"
    idle = [said.format(worker, counted(left, "row"), time) for worker, left, time in seen.returned[0][0]["idle"]]
    return [Fault("idle-workers", f"With {seen.case}: {one} before you wait.", telling=True) for one in idle]


EXERCISE = Exercise(
    cases=lambda ranks, seed: [
        Case(1, seed, settings={"at": at, "told": f"{r} rows and {counted(w, 'worker')}"})
        for at, (r, w) in enumerate(SETTINGS)
    ],
    inputs=lambda case, rank: (settings(case),),
    number=6,
    title="Dynamic assignment",
    points=2,
    minutes=15,
    core=False,
    parameters="rows, pool",
    reference="lockstep.classical.assignment:dynamic_assignment",
    worlds=(1,),
    pure=True,
    values=Values(examine=examine),
    costs=Costs(economise=economise),
    comparison=Comparison(
        alike=lambda seen: [seen.returned[0][0][part] for part in ("returned", "misused", "spans")],
        footprint=lambda seen: seen.returned[0][0]["spans"],
    ),
    run=Run(watch=watch),
    feedback=Feedback(picture=lambda seen: drawn(settings(seen.case)[1], seen.returned[0][0]["spans"], str(seen.case))),
)
