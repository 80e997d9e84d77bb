"""parallel_sum: threads that share nothing but what they read. Which worker writes to which cache line is found by
running the function in Python on traced arrays, worker beside worker."""

from collections.abc import Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.cpu.observed import Evidence, Kernel, sharing
from lockstep.cpu.traced import Memory
from lockstep.exercises.cpu.arrays import one_case, wide
from lockstep.exercises.cpu.kernels import Values, compiled_exercise, interpreted
from lockstep.exercises.cpu.pictures import lines

QUERIES = ((8, 2), (0, 3), (5, 8), (101, 4), (47, 8), (400, 4))  # elements, workers
SLACK = 4  # transfers for each worker: some at the beginning and the end are nobody's fault


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((wide(case, i, n), w) for i, (n, w) in enumerate(QUERIES))


def economise(seen: Seen) -> Sequence[Fault]:
    rows = zip(QUERIES, seen.returned[0], strict=True)
    full = [row for row in rows if row[0][0] >= row[0][1]]  # with fewer elements some workers have nothing to do
    last = full[-1][1]
    faults = [
        serial(last),
        *(ignores_workers(*row) for row in full),
        *(uneven(*row) for row in full),
        false_sharing(last),
    ]
    return [fault for fault in faults if fault][:1]


def serial(evidence: Evidence) -> Fault | None:
    if fault := interpreted(evidence, "@njit(parallel=True)"):
        return fault
    if not evidence["turns"]:
        return Fault("serial", "But there is no prange in it: one worker does all. Loop over the workers by prange.")
    if not evidence["parallel"]:
        return Fault("not-parallel", "But without parallel=True prange is a plain range: @njit(parallel=True).")
    if sum(n > 0 for n in evidence["shares"]) <= 1:
        return Fault("serial", "But x is read by one worker, or outside of the prange: the others have nothing to do.")
    return None


def ignores_workers(query: tuple[int, int], evidence: Evidence) -> Fault | None:
    """Whether no prange has a turn for each worker."""
    if query[1] in evidence["turns"]:
        return None
    turns = " and ".join(f"{n:,}" for n in evidence["turns"])
    return Fault("ignores-workers", f"But with workers = {query[1]} your prange has {turns} turns. {WORKERS}")


def uneven(query: tuple[int, int], evidence: Evidence) -> Fault | None:
    shares, outside = evidence["shares"], evidence["outside"]
    total = sum(shares) + outside
    if total > 1.5 * query[0]:
        told = f"But {total:,} elements of x are read, which has {query[0]:,}"
        return Fault("shared-elements", f"{told}: divide them, so that each is read by one worker.")
    if max(shares) + outside <= 1.5 * total / len(shares):
        return None
    also = f", and {outside} are read outside of the prange" if outside else ""
    told = f"But with {query[0]} elements the workers read {', '.join(map(str, shares))} elements of x{also}"
    return Fault("uneven", f"{told}: everybody waits for the slowest.")


def false_sharing(evidence: Evidence) -> Fault | None:
    moved, additions = evidence["transfers"], sum(evidence["shares"])
    if moved <= SLACK * evidence["workers"]:
        return None
    told = f"But cache lines move from core to core {moved:,} times, for {additions} additions"
    return Fault("false-sharing", f"{told}: {SHARING}")


def race(call: tuple[Any, ...], evidence: Evidence) -> Fault | None:
    return Fault("race", RACE) if evidence["races"] else None


RACE = (
    "several workers use an element of an array that one of them writes to, in one prange. Each reads the old value, "
    "adds, and writes: whoever is later overwrites what the other one added. Give every worker an element of its own, "
    "and add these up after the loop. (total += s on a plain number is safe in a prange: numba gives each thread a "
    "total of its own, and adds them up. On an element of an array it is a race.)"
)
WORKERS = (
    "numba divides them among all the threads that it has, however many workers were asked for. Let the prange go over "
    "the workers, prange(workers), and divide the elements among them yourself."
)
SHARING = (
    "workers write in turns to elements that are neighbours, and neighbours lie in one line of 64 bytes. Add up in a "
    "variable of the worker's own, and write it once at the end; or pad, so that each worker's element has a line of "
    "its own."
)

EXERCISE = compiled_exercise(
    Kernel(
        ("x", "workers"),
        lambda returned, arguments: plain(returned),
        facts=sharing,
        memory=lambda arguments: Memory(arguments[1]),
    ),
    Values(
        begin=lambda x, workers: f"With {x.size} elements and {workers} workers",
        wanted=lambda x, workers: float(x.sum()),
        size=lambda x, workers: float(abs(x).sum()),
        asked="the sum, a number,",
        reads=("x",),
        own=race,
    ),
    number=4,
    title="A parallel sum without false sharing",
    points=4,
    minutes=25,
    parameters="x, workers",
    reference="lockstep.cpu.sums:parallel_sum",
    cases=one_case("six arrays"),
    inputs=inputs,
    economise=economise,
    picture=lines,
)
