"""The three sums: the same additions, by other threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.gpu.launches import (
    Known,
    Launched,
    Ran,
    case_of,
    draw,
    examined,
    hazards,
    picture,
    recognise,
    right,
    untouched,
    watch_launch,
)  # fmt: skip
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen

POINTS = 2
THREADS = 128
WARPS = THREADS // 32


def _cases(ranks: int, seed: int) -> list[Case]:
    sizes = ((128, 1), (256, 2), (500, 4), (130, 2))
    return [case_of(seed, f"{n} elements in {b} block{'s' if b > 1 else ''}", n=n, blocks=b) for n, b in sizes]


def _values(case: Case) -> Any:
    return draw(case, case.settings["n"])


def _call(case: Case, rank: int) -> tuple[Launched, ...]:
    return (((case.settings["blocks"],), (THREADS,), (_values(case), np.zeros(1, np.float32))),)


def _total(case: Case) -> Any:
    return _values(case).sum(keepdims=True)


def _by_block(case: Case) -> Any:
    """(block, thread): the elements, zeros beyond the end."""
    values = _values(case)
    return np.pad(values, (0, case.settings["blocks"] * THREADS - values.size)).reshape(-1, THREADS)


def _result(ran: Ran) -> Fault | None:
    return untouched(ran, 0, _values(ran.case)) or right(ran, 1, _total(ran.case))


def _overwritten(ran: Ran) -> Fault | None:
    """out[0] holds the sum of one block: stored, not added."""
    sums = _by_block(ran.case).sum(axis=1)
    if (
        len(sums) < 2
        or ran.counts["atomics"]
        or ran.arrays[1][0] not in sums
        or ran.arrays[1][0] == _total(ran.case)[0]
    ):
        return None
    told = "out[0] is the sum of one block: each block writes its own over the others'. Add it, with cuda.atomic.add."
    return Fault("overwrites-out", f"With {ran.case}: {told}")


def _atomics(ran: Ran, most: int, told: str) -> list[Fault]:
    if ran.counts["atomics"] <= most:
        return []
    begin = f"With {ran.case}: {ran.counts['atomics']} atomic additions to one address, which wait for each other. "
    return [Fault("all-atomic", begin + told)]


def _mended_cost(seen: Seen) -> list[Fault]:
    """Still a tree: any tree."""
    ran, blocks = Ran.of(seen), seen.case.settings["blocks"]
    requests = ran.counts["shared_requests"] / blocks
    if requests > 4 * BUDGET:
        told = f"the warps of a block go to shared memory {requests:.0f} times: one thread adds for all. Keep the tree."
        return [Fault("one-thread", f"With {seen.case}: {told}")]
    return _atomics(ran, 2 * blocks, "Keep the tree: sum in shared memory, and add once a block.")


def _judge_mend(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, examined(hazards, _result), _mended_cost)


ROUNDS = 90  # instructions of a warp: 33 in the reference, more than 150 with 31 shuffles
BUDGET = 45  # requests to shared memory of a block: 29 in the reference, 74 in the divergent tree, 386 of one thread


def _sequential_cost(seen: Seen) -> list[Fault]:
    ran, blocks = Ran.of(seen), seen.case.settings["blocks"]
    faults = _atomics(ran, 2 * blocks, "Sum in shared memory first, and add once a block.")
    requests = ran.counts["shared_requests"] / blocks
    told = f"With {seen.case}: the warps of a block go to shared memory {requests:.0f} times, and 29 times are enough. "
    if requests > 4 * BUDGET:
        return [Fault("one-thread", f"{told}One thread adds alone while 127 look on: halve the threads at work.")]
    if requests > BUDGET:
        advice = "The threads at work are spread over all warps, so every warp issues every round: use thread t < step."
        return [Fault("divergent", told + advice)]
    conflicts = ran.counts["wavefronts"] / max(1, ran.counts["shared_requests"])
    if conflicts > 1.05:
        advice = (
            f"{conflicts:.1f} wavefronts a request: the lanes at work lie 2, 4, 8 … words apart, so several meet in "
            "one bank. Neighbouring threads should add neighbouring words."
        )
        return [Fault("bank-conflicts", f"With {seen.case}: {advice}")]
    return faults


def _judge_sequential(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, examined(_overwritten, hazards, _result), _sequential_cost)


def _warps(case: Case) -> Any:
    """(warp, lane)."""
    return _by_block(case).reshape(-1, 32)


def _shuffled_down(lanes: Any) -> Any:
    """What every lane holds after the five rounds: beyond lane 31 a lane gets its own value back."""
    for offset in (16, 8, 4, 2, 1):
        source = np.arange(32) + offset
        lanes = lanes + lanes[:, np.where(source < 32, source, np.arange(32))]
    return lanes


def _known_shuffles(ran: Ran) -> Fault | None:
    warps, total = _warps(ran.case), _total(ran.case)
    one = np.array([warps[::WARPS].sum()])
    known = [
        Known("one-warp-only", "only the first warp of each block counts: lane 0 of *each* warp holds a sum.", one),
        Known("every-lane-adds", "every lane adds what it holds. Only lane 0 holds its warp's sum.",
              np.array([_shuffled_down(warps).sum()], np.float32)),
        Known("wrong-lane", "lane 0 has added only its own value, again and again: shuffling up, the sum gathers in "
                            "lane "
              "31.", np.array([32 * warps[:, 0].sum()])),
        Known("doubled", "the sum is twice as large: 32 lanes further on there is nobody, so a lane gets its own value "
              "back. Begin with 16.", 2 * total),
    ]  # fmt: skip
    return recognise(ran, 1, total, known)


def _shuffle_cost(seen: Seen) -> list[Fault]:
    ran, blocks = Ran.of(seen), seen.case.settings["blocks"]
    faults = _atomics(ran, WARPS * blocks, "Let a warp sum by shuffles, and lane 0 add once.")
    requests = ran.counts["shared_requests"] / blocks
    if requests > 3 * WARPS:
        told = (
            f"With {seen.case}: a block goes to shared memory {requests:.0f} times. Lanes can read each other's "
            f"registers."
        )
        return [Fault("uses-shared-memory", told)]
    each = ran.counts["instructions"] / (WARPS * blocks)
    if not faults and each > ROUNDS:
        told = f"With {seen.case}: {each:.0f} instructions a warp. Five rounds are enough: halve the offset each time."
        return [Fault("too-many-rounds", told)]
    return faults


def _judge_shuffle(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, examined(_known_shuffles, hazards, _result), _shuffle_cost)


SEQUENTIAL = Exercise(
    id="gpu.reduce_sequential",
    title="Let whole warps go",
    points=POINTS,
    minutes=15,
    parameters="values, out",
    cases=_cases,
    inputs=_call,
    judge=_judge_sequential,
    reference="lockstep.simt.kernels:reduce_sequential",
    worlds=(1,),
    pure=True,
    watch=watch_launch,
    picture=picture,
)
MEND_DIVERGENT = replace(
    SEQUENTIAL,
    id="gpu.mend_divergent_reduction",
    title="A sum that is sometimes right",
    minutes=20,
    judge=_judge_mend,
    reference="lockstep.simt.kernels:reduce_divergent",
)
SHUFFLE = replace(
    SEQUENTIAL,
    id="gpu.reduce_shuffle",
    title="Without memory",
    judge=_judge_shuffle,
    reference="lockstep.simt.kernels:reduce_shuffle",
)
