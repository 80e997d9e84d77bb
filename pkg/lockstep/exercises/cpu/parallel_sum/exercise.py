"""parallel_sum: threads that share nothing but what they read. Which worker writes to which cache line is found by
running the function in Python on traced arrays, worker beside worker."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number_of
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.cpu.coherence import share
from lockstep.cpu.traced import SERIAL, Memory
from lockstep.cpu.trial import Trial
from lockstep.exercises.cpu import kernels
from lockstep.exercises.cpu.arrays import one_case, wide
from lockstep.exercises.cpu.kernels import Evidence, Kernel
from lockstep.exercises.cpu.pictures import lines

QUERIES = ((8, 2), (0, 3), (5, 8), (101, 4), (47, 8), (400, 4))  # elements, workers
SLACK = 4  # transfers for each worker: some at the beginning and the end are nobody's fault
MOST_WRITTEN = 200  # addresses kept for the picture


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    return tuple((wide(case, i, n), w) for i, (n, w) in enumerate(QUERIES))


def result(returned: Any, arguments: tuple[Any, ...]) -> Any:
    return plain(returned)


def facts(trial: Trial) -> Evidence:
    """Who read x, which lines moved between workers, and what several workers wrote."""
    memory = trial.memory
    sharing = share(memory.accesses)
    by_worker = Counter(a[2] for a in memory.accesses if memory.name(a[0]) == "x")
    written = sorted({(a[0], a[2]) for a in memory.accesses if a[1] and a[2] != SERIAL})
    return {
        "turns": memory.turns,
        "workers": memory.workers,
        "reads": [by_worker[w] for w in range(memory.workers)],
        "outside": by_worker[SERIAL],
        "uses": memory.uses("x").tolist(),
        "races": len(sharing.races),
        "transfers": sharing.total,
        "written": [list(pair) for pair in written[:MOST_WRITTEN]],
    }


def examine(seen: Seen) -> Fault | None:
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    return kernels.first([wrong(x, workers, evidence) for (x, workers), evidence in rows])


def wrong(x: Any, workers: int, evidence: Evidence) -> Fault | None:
    begin = f"With {x.size} elements and {workers} workers: "
    if fault := kernels.unfit(begin, evidence):
        return fault
    if evidence["races"]:
        return Fault("race", begin + RACE)
    value, wanted = number_of(evidence["result"]), float(x.sum())
    if value is None:
        return Fault("wrong-type", f"{begin}it returns {told(evidence['result'])}, which is no number.")
    if value == wanted:
        return None
    begin += f"it returns {value!r}, not {wanted!r}."
    uses = np.array(evidence["uses"])
    if left := kernels.skipped("x", uses):
        return Fault("never-read", f"{begin} {left} Worker w takes those from w * n // workers to (w + 1) * n // workers.")
    if twice := kernels.repeated("x", uses):
        return Fault("read-twice", f"{begin} {twice}")
    if kernels.as_float32(np.array(value), np.array(wanted), np.abs(x).sum()):
        return Fault("single-precision", f"{begin} {kernels.IN_FLOAT32}")
    return Fault("wrong-values", begin)


def economise(seen: Seen) -> Sequence[Fault]:
    rows = list(zip(inputs(seen.case, 0), seen.returned[0], strict=True))
    full = [(w, evidence) for (x, w), evidence in rows if x.size >= w]  # with fewer elements some have nothing to do
    last = full[-1][1]
    faults = [serial(last), *(ignores_workers(w, evidence) for w, evidence in full), *(uneven(e) for _, e in full)]
    if not any(faults) and last["transfers"] > SLACK * last["workers"]:
        moved = f"But cache lines move from core to core {last['transfers']:,} times, for {sum(last['reads'])} additions: "
        faults = [Fault("false-sharing", moved + SHARING)]
    return [fault for fault in faults if fault][:1]


def serial(evidence: Evidence) -> Fault | None:
    if fault := kernels.interpreted(evidence, "@njit(parallel=True)"):
        return fault
    if not evidence["turns"]:
        return Fault("serial", "But there is no prange in it: one worker does all. Loop over the workers by prange.")
    if not evidence["parallel"]:
        return Fault("not-parallel", "But without parallel=True prange is a plain range: @njit(parallel=True).")
    if sum(n > 0 for n in evidence["reads"]) <= 1:
        return Fault("serial", "But x is read by one worker, or outside of the prange: the others have nothing to do.")
    return None


def ignores_workers(workers: int, evidence: Evidence) -> Fault | None:
    """Whether no prange has a turn for each worker."""
    if workers in evidence["turns"]:
        return None
    turns = " and ".join(f"{n:,}" for n in evidence["turns"])
    return Fault("ignores-workers", f"But with workers = {workers} your prange has {turns} turns. {WORKERS}")


def uneven(evidence: Evidence) -> Fault | None:
    reads, outside = evidence["reads"], evidence["outside"]
    if max(*reads, outside) <= 1.5 * (sum(reads) + outside) / len(reads):
        return None
    shares = ", ".join(map(str, reads))
    begin = f"But with {len(evidence['uses'])} elements the workers read {shares} elements of x"
    also = f", and {outside} are read outside of the prange" if outside else ""
    return Fault("uneven", f"{begin}{also}: everybody waits for the slowest.")


RACE = (
    "several workers use an element of an array that one of them writes to, in one prange. Each reads the old value, "
    "adds, and writes: whoever is later overwrites what the other one added. Give every worker an element of its own, "
    "and add these up after the loop. (total += s on a plain number is safe in a prange: numba gives each thread a total "
    "of its own, and adds them up. On an element of an array it is a race.)"
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
KERNEL = Kernel(("x", "workers"), result, facts, memory=lambda arguments: Memory(arguments[1]))

EXERCISE = Exercise(
    number=4,
    title="A parallel sum without false sharing",
    points=4,
    minutes=25,
    parameters="x, workers",
    reference="lockstep.cpu.sums:parallel_sum",
    cases=one_case("six arrays"),
    inputs=inputs,
    examine=examine,
    economise=economise,
    alike=kernels.alike,
    hints=kernels.HINTS,
    watch=KERNEL.watch,
    beside=KERNEL.beside,
    picture=lines,
    worlds=(1,),
    pure=True,
    real=True,
    seconds=kernels.PATIENCE,
)
