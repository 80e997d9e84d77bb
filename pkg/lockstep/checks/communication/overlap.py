"""``overlapped_step``: a transfer hidden behind compute, judged by the order of events in virtual time."""

from __future__ import annotations

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.communication.tensors import SUBGROUPS
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import Known, compare, pick, told, total
from lockstep.events import Event

POINTS = 4
HIDDEN = 0.8  # share of the shorter of transfer and compute that must lie under the other


def _cases(ranks: int, seed: int) -> list[Case]:
    """Compute and transfer that take about as long as each other on the simulated machine."""
    groups: list[tuple[int, ...] | None] = [None, *([SUBGROUPS[ranks]] if ranks in SUBGROUPS else [])]
    settings = {"numel": 250_000 + seed % 1000, "rows": 256, "inner": 512, "columns": 384}
    return [Case(ranks, seed + n, group, settings) for n, group in enumerate(groups)]


def _inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, Tensor]:
    """Small whole numbers: float32 adds and multiplies them exactly."""
    numbers, s = generator(case, rank), case.settings
    shapes = (s["numel"],), (s["rows"], s["inner"]), (s["inner"], s["columns"])
    first, second, third = (torch.randint(-4, 5, shape, generator=numbers).float() for shape in shapes)
    return first, second, third


def _examine(seen: Seen) -> Fault | None:
    returned = pick(seen, seen.returned)
    for rank, value in zip(seen.case.members, returned, strict=True):
        if not (isinstance(value, list) and len(value) == 2):
            return Fault("wrong-type", f"With {seen.case}, rank {rank} returns {told(value)}; a pair is wanted.")
    own = [_inputs(seen.case, rank) for rank in seen.case.members]
    gradients, products = [g for g, _, _ in own], [x @ w for _, x, w in own]
    first, second = [v[0] for v in returned], [v[1] for v in returned]
    if _all_equal(first, products):
        return Fault("swapped", f"With {seen.case}: the pair is (gradient, product), in this order.")
    size, right = len(own), total(gradients)
    known = [
        Known("skips-transfer", "each rank returns its own gradient: it is never summed.", gradients),
        Known(
            "averages", "this is the average of the gradients; the exercise asks for the sum.", [right / size] * size
        ),
    ]
    summed = [Known("reduces-the-product", "the products have been summed over the ranks.", [total(products)] * size)]
    return compare(seen, first, [right] * size, known) or compare(seen, second, products, summed)


def _all_equal(held: list[object], wanted: list[Tensor]) -> bool:
    return all(isinstance(h, Tensor) and torch.equal(h, w) for h, w in zip(held, wanted, strict=True))


def _cost(seen: Seen) -> list[Fault]:
    """On every rank, most of the shorter of the two must lie under the other. Real processes have no compute events:
    there the order of the program tells what was computed between the transfer's start and the wait for it."""
    for rank in seen.case.members if seen.case.size > 1 else ():
        events = seen.trace.of_rank(rank)
        computing = [e for e in events if e.kind == "compute" and e.flops > 0]
        moving = [e for e in events if e.kind not in ("compute", "barrier")]
        if moving and not computing and _waits_at_once(seen, moving):
            told = (
                f"With {seen.case}, rank {rank} waits for the transfer before it computes: torch has computed no "
                "product between the start of the transfer and wait(). Start it, compute, and only then wait."
            )
            return [Fault("waits-at-once", told)]
        if not computing or not moving:
            continue
        under = sum(_overlap(c, begin, end) for c in computing for begin, end in _merged(moving))
        shorter = min(_length(_merged(computing)), _length(_merged(moving)))
        if under < HIDDEN * shorter:
            return [_why(seen, rank, under / shorter, computing, moving)]
    return []


def _waits_at_once(seen: Seen, moving: list[Event]) -> bool:
    """Whether less than most of the product came between the posting of messages and the waits for them."""
    known = [e.meanwhile for e in moving if e.meanwhile is not None]
    s = seen.case.settings
    return len(known) == len(moving) and sum(known) < HIDDEN * 2 * s["rows"] * s["inner"] * s["columns"]


def _merged(events: list[Event]) -> list[tuple[float, float]]:
    """The time that the events cover, as stretches that do not overlap."""
    stretches: list[tuple[float, float]] = []
    for event in sorted(events, key=lambda e: e.posted):
        if stretches and event.posted <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(stretches[-1][1], event.end)
        else:
            stretches.append((event.posted, event.end))
    return stretches


def _length(stretches: list[tuple[float, float]]) -> float:
    return sum(end - begin for begin, end in stretches)


def _overlap(event: Event, begin: float, end: float) -> float:
    return max(0.0, min(event.end, end) - max(event.posted, begin))


def _why(seen: Seen, rank: int, share: float, computing: list[Event], moving: list[Event]) -> Fault:
    overlap = f"overlap for {share:.0%} of the time that they could" if share > 0 else "do not overlap at all"
    begin = f"With {seen.case}, the transfer and the product {overlap} on rank {rank}. "
    if min(e.posted for e in moving) >= max(e.end for e in computing):
        return Fault("starts-too-late", f"{begin}The transfer starts when the product is ready: start it first.")
    if max(e.end for e in moving) <= min(e.posted for e in computing):
        told = "The transfer is over before the product begins: call wait() only after the product."
        return Fault("waits-at-once", f"{begin}{told}")
    return Fault("little-overlap", f"{begin}Start the whole transfer, then compute the whole product, then wait.")


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine, _cost)


OVERLAPPED_STEP = Exercise(
    id="communication.overlapped_step",
    title="Hide a transfer behind compute",
    points=POINTS,
    minutes=25,
    parameters="gradient, x, weights, group=None",
    cases=_cases,
    inputs=_inputs,
    judge=_judge,
    reference="lockstep.collectives:overlapped_step",
    worlds=(1, 2, 3, 4),
)
