"""Three programs that hang, to be mended: ``mend_ring_of_sends``, ``mend_skipped_collective``,
``mend_out_of_order_tags``."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from lockstep.checks.case import Case, integers
from lockstep.checks.communication.tensors import (
    SUBGROUPS,
    members_tensors,
    nbytes,
    one_tensor,
    tensor_case,
    tensor_cases,
)
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.traffic import collectives, rounds, sent
from lockstep.checks.values import Known, compare, pick, result, told, total

POINTS = 2

# ---- the ring of sends


def _neighbours(seen: Seen) -> Fault | None:
    own = members_tensors(seen.case)
    left, right = own[-1:] + own[:-1], own[1:] + own[:1]
    known = [
        Known("returns-own", "every rank has its own tensor again: return what you received.", own),
        Known("wrong-direction", "this is the right neighbour's tensor. The left one is rank - 1.", right),
    ]
    held = [result(seen, rank) for rank in seen.case.members]
    fault = compare(seen, held, left, known)
    if fault and fault.misconception == "wrong-values" and _received_too_early(seen, held, own):
        told = (
            "It looks as if you receive into the tensor while it is still being sent, so that what has just arrived "
            "is sent on. Receive into a tensor of its own: torch.empty_like(tensor)."
        )
        return Fault("still-being-sent", f"{fault.message} {told}")
    return fault


def _received_too_early(seen: Seen, held: Sequence[object], own: Sequence[Tensor]) -> bool:
    """The argument is overwritten, and every rank has somebody's tensor."""
    overwritten = any(not torch.equal(seen.arguments[r][0], t) for r, t in zip(seen.case.members, own, strict=True))
    return overwritten and all(any(_same([h], [t]) for t in own) for h in held)


def _ring_cost(seen: Seen) -> list[Fault]:
    case, took = seen.case, rounds(seen.trace)
    gathered = collectives(seen.trace, ("all_gather", "gather", "all_to_all", "all_reduce", "broadcast"))
    if gathered or max(sent(seen.trace).values(), default=0) > nbytes(case):
        what = f"dist.{gathered[0].kind} moves" if gathered else "these messages move"
        message = f"With {case}, {what} more than one tensor to each rank. One message in and one out is enough."
        return [Fault("gathers-everything", message)]
    if took > 3:
        message = (
            f"With {case}, {took} messages follow one another, rank by rank. Nobody needs to wait for more than one."
        )
        return [Fault("serialised", message)]
    return []


def _judge_ring(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _neighbours, _ring_cost)


RING_OF_SENDS = Exercise(
    id="communication.mend_ring_of_sends",
    title="Mend the ring of sends",
    points=POINTS,
    minutes=15,
    parameters="tensor, group=None",
    cases=tensor_cases,
    inputs=one_tensor,
    judge=_judge_ring,
    reference="lockstep.collectives:mend_ring_of_sends",
    seconds=2.5,
)

# ---- the collective that some ranks skip


def _skipped_cases(ranks: int, seed: int) -> list[Case]:
    """In each case with two ranks or more, some have something to give and some do not; some tensors sum to exactly
    0."""
    draw = random.Random(seed)
    subgroup = [SUBGROUPS[ranks]] if ranks in SUBGROUPS else []
    dtypes = ["int64"] if ranks == 4 else []
    rows = [(None, "float64"), (None, "float64"), *((g, "float64") for g in subgroup), *((None, d) for d in dtypes)]
    return [
        tensor_case(
            ranks, seed + n, group, numel=draw.randint(6, 12), dtype=dtype, signs=[(1, -1, 0), (0, 1, -1)][n % 2]
        )
        for n, (group, dtype) in enumerate(rows)
    ]


def _signed(case: Case, rank: int) -> tuple[Tensor]:
    """Whole numbers with a sum above, below or exactly 0, by the rank's seat."""
    tensor = integers(case, rank)
    seat = case.members.index(rank) if rank in case.members else 0
    tensor[0] += 7 * case.settings["signs"][seat % 3] - tensor.sum()
    return (tensor,)


def _positive_sum(seen: Seen) -> Fault | None:
    own = [_signed(seen.case, rank)[0] for rank in seen.case.members]
    nothing = torch.zeros_like(own[0])
    right = total([t if t.sum() > 0 else nothing for t in own])
    everyone = [right] * len(own)
    averaged = (right.double() / len(own)).to(right.dtype)
    everyone_gave = [total(own)] * len(own)
    known = [
        Known("keeps-own", "ranks that had nothing to give keep their own tensor; they need the sum too.", [
            right if t.sum() > 0 else t for t in own
        ]),
        Known("sums-everyone", "a rank whose tensor sums to 0 or less must take part with zeros.", everyone_gave),
        Known("zero-counts", "a tensor that sums to exactly 0 is not positive.", [
            total([t if t.sum() >= 0 else nothing for t in own])
        ] * len(own)),
        Known("clamps-elements", "negative elements are lost: it is the tensor's sum that decides.", [
            total([t.clamp(min=0) for t in own])
        ] * len(own)),
        Known("clamps-elements", "negative elements are lost: it is the tensor's sum that decides.", [
            total([t.clamp(min=0) if t.sum() > 0 else nothing for t in own])
        ] * len(own)),
        Known("averages", "this is the average; the exercise asks for the sum.", [averaged] * len(own)),
    ]  # fmt: skip
    return compare(seen, [result(seen, rank) for rank in seen.case.members], everyone, known)


def _judge_skipped(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _positive_sum)


SKIPPED_COLLECTIVE = Exercise(
    id="communication.mend_skipped_collective",
    title="Mend the skipped collective",
    points=POINTS,
    minutes=15,
    parameters="tensor, group=None",
    cases=_skipped_cases,
    inputs=_signed,
    judge=_judge_skipped,
    reference="lockstep.collectives:mend_skipped_collective",
    seconds=2.5,
)

# ---- tags out of order


def _tag_cases(ranks: int, seed: int) -> list[Case]:
    groups: list[tuple[int, ...] | None] = [None, *([SUBGROUPS[ranks]] if ranks in SUBGROUPS else [])]
    cases = [tensor_case(ranks, seed + n, group, numel=9, second=9) for n, group in enumerate(groups)]
    return [*cases, *([tensor_case(ranks, seed + 9, numel=5, second=11)] if ranks == 2 else [])]


def _two_tensors(case: Case, rank: int) -> tuple[Tensor, Tensor]:
    settings = {**case.settings, "numel": case.settings["second"]}
    return integers(case, rank), integers(Case(case.ranks, case.seed + 500, case.group, settings), rank)


def _handed_over(seen: Seen) -> Fault | None:
    members = seen.case.members
    own = [_two_tensors(seen.case, rank) for rank in members]
    right = [own[0] if seat == 1 else pair for seat, pair in enumerate(own)]
    returned = pick(seen, seen.returned)
    for rank, value in zip(members, returned, strict=True):
        if not (isinstance(value, list) and len(value) == 2):
            message = f"With {seen.case}, rank {rank} returns {told(value)}; (first, second) is wanted on every rank."
            return Fault("returns-nothing", message)
    if len(members) > 1 and _same(returned[1], own[0][::-1]):
        return Fault("swapped", f"With {seen.case}: rank {members[1]} returns (second, first).")
    if any(_same(v, own[0]) and not _same(p, own[0]) for v, p in zip(returned[2:], own[2:], strict=True)):
        return Fault("changes-others", f"With {seen.case}: ranks other than 0 and 1 must keep their own tensors.")
    for n in (0, 1):
        fault = compare(seen, [v[n] for v in returned], [pair[n] for pair in right])
        if fault:
            return fault
    return None


def _same(values: Sequence[object], pair: Sequence[Tensor]) -> bool:
    return all(isinstance(v, Tensor) and torch.equal(v, t) for v, t in zip(values, pair, strict=True))


def _judge_tags(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _handed_over)


OUT_OF_ORDER_TAGS = Exercise(
    id="communication.mend_out_of_order_tags",
    title="Mend the tags out of order",
    points=POINTS,
    minutes=15,
    parameters="first, second, group=None",
    cases=_tag_cases,
    inputs=_two_tensors,
    judge=_judge_tags,
    reference="lockstep.collectives:mend_out_of_order_tags",
    seconds=2.5,
)
