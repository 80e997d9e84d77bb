"""``parallel_sum``: threads that share nothing but what they read. Which worker writes to which cache line is found by
running the function in Python on traced arrays, worker beside worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.cpu import compiled
from lockstep.checks.cpu.arrays import Array, one_case, whole_numbers
from lockstep.checks.cpu.pictures import lines
from lockstep.checks.cpu.trial import trial, unfit
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told

POINTS = 4
QUERIES = ((8, 2), (0, 3), (5, 8), (101, 4), (400, 4))  # elements, workers
SLACK = 4  # transfers for each worker: some at the beginning and the end are nobody's fault
MOST_WRITTEN = 200  # addresses kept for the picture


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((whole_numbers(case, i, n, dtype="float64", most=1000), w) for i, (n, w) in enumerate(QUERIES))


def _watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """First in Python, where an index outside of an array is an error; then compiled, on threads."""
    how = compiled.compiled(fn)
    traced = _trace(fn, *arguments)
    if traced["problem"]:
        return {**how, **traced, "value": None}
    returned, problem = compiled.attempt(fn, *arguments)
    value = float(returned) if isinstance(returned, (int, float)) else None
    return {**how, **traced, "value": value, "uncompilable": problem}


def _trace(fn: Callable[..., Any], x: Array, workers: int) -> dict[str, Any]:
    """Who read x, which lines moved between workers, and what several workers wrote."""
    from lockstep.cpu.coherence import share
    from lockstep.cpu.traced import SERIAL, Memory

    memory = Memory(workers)
    found = trial(fn, memory, memory.place(x, "x"), workers)
    sharing = share(memory.accesses)
    reads = Counter(a[2] for a in memory.accesses if memory.name(a[0]) == "x")
    written = sorted({(a[0], a[2]) for a in memory.accesses if a[1] and a[2] != SERIAL})
    return {
        **found,
        "turns": memory.turns,
        "workers": workers,
        "regions": memory.region,
        "reads": [reads[w] for w in range(workers)],
        "races": len(sharing.races),
        "transfers": sharing.total,
        "written": [list(pair) for pair in written[:MOST_WRITTEN]],
    }


def _examine(seen: Seen) -> Fault | None:
    for (x, workers), evidence in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        begin = f"With {x.size} elements and {workers} workers: "
        if evidence["problem"]:
            return unfit(begin, evidence)
        fault = compiled.uncompilable(evidence["uncompilable"]) or _race(begin, evidence)
        fault = fault or _wrong(begin, x, workers, evidence["value"])
        if fault:
            return fault
    return None


def _race(begin: str, evidence: dict[str, Any]) -> Fault | None:
    if not evidence["races"]:
        return None
    return Fault(
        "race",
        f"{begin}workers write to the same element, in one prange. Each of them reads the old value, adds, and writes: "
        "whoever is later overwrites what the other one added. Give every worker an element of its own, and add these "
        "up after the loop. (total += s on a plain number is safe in a prange: numba gives each thread a total of its "
        "own, and adds them up. On an element of an array it is a race.)",
    )


def _wrong(begin: str, x: Array, workers: int, value: float | None) -> Fault | None:
    if value is None:
        return Fault("wrong-type", f"{begin}it returns no number.")
    if value == x.sum():
        return None
    each = x.size // workers
    if value == x[: each * workers].sum():
        return Fault(
            "drops-rest",
            f"{begin}the last {x.size - each * workers} elements are missing. Worker w takes the elements from "
            "w * n // workers to (w + 1) * n // workers.",
        )
    if value in [x[w * each : (w + 1) * each].sum() for w in range(workers)]:
        return Fault("forgets-workers", f"{begin}this is the part of one worker: add up all of them.")
    return Fault("wrong-values", f"{begin}it returns {told(value)}, not {x.sum():g}.")


def _economise(seen: Seen) -> Iterator[Fault]:
    evidence = seen.returned[0][-1]
    serial = _serial(evidence)
    if serial:
        yield serial
        return
    ignored = _ignores_workers(seen)
    if ignored:
        yield ignored
        return
    reads, workers = evidence["reads"], evidence["workers"]
    if max(reads) > 1.5 * sum(reads) / workers:
        shares = ", ".join(map(str, reads))
        yield Fault("uneven", f"But the workers read {shares} elements of x: everybody waits for the slowest.")
    if evidence["transfers"] > SLACK * workers:
        yield Fault(
            "false-sharing",
            f"But cache lines move from core to core {evidence['transfers']:,} times, for {sum(reads)} additions: "
            "workers write in turns to elements that are neighbours, and neighbours lie in one line of 64 bytes. Add "
            "up in a variable of the worker's own, and write it once at the end; or pad, so that each worker's element "
            "has a line of its own.",
        )


def _serial(evidence: dict[str, Any]) -> Fault | None:
    interpreted = compiled.interpreted(evidence, "@njit(parallel=True)")
    if interpreted:
        return interpreted
    if not evidence["regions"]:
        return Fault("serial", "But there is no prange in it: one worker does all. Loop over the workers by prange.")
    if not evidence["parallel"]:
        return Fault("not-parallel", "But without parallel=True prange is a plain range: @njit(parallel=True).")
    if sum(n > 0 for n in evidence["reads"]) == 1 or not any(evidence["reads"]):
        return Fault("serial", "But x is read by one worker, or outside of the prange: the others have nothing to do.")
    return None


def _ignores_workers(seen: Seen) -> Fault | None:
    """Whether no prange has a turn for each worker. With fewer elements than workers, it need not."""
    for (x, workers), evidence in zip(_calls(seen.case, 0), seen.returned[0], strict=True):
        if x.size >= workers and workers not in evidence["turns"]:
            turns = " and ".join(f"{n:,}" for n in evidence["turns"])
            return Fault(
                "ignores-workers",
                f"But with workers = {workers} and {x.size} elements your prange has {turns} turns: numba divides them "
                "among all the threads that it has, however many workers were asked for. Let the prange go over the "
                "workers, prange(workers), and divide the elements among them yourself.",
            )
    return None


def _judge(observation: Observation) -> list[Finding]:
    return compiled.patient(mark(observation, POINTS, _examine, lambda seen: list(_economise(seen))), observation)


PARALLEL_SUM = Exercise(
    id="cpu.parallel_sum",
    title="A parallel sum without false sharing",
    points=POINTS,
    minutes=25,
    parameters="x, workers",
    cases=one_case("five arrays"),
    inputs=_calls,
    judge=_judge,
    reference="lockstep.cpu.sums:parallel_sum",
    worlds=(1,),
    pure=True,
    watch=_watch,
    real=True,
    seconds=compiled.PATIENCE,
    picture=lines,
)
