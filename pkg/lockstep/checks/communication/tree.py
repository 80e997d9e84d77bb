"""``tree_broadcast`` and ``tree_reduce``: in place or returned, K-1 messages, log2 K rounds."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, integers
from lockstep.checks.communication.tensors import BUILT_BY_HAND, members_tensors, nbytes, tensor_cases
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.traffic import hub, messages, number_received, rounds
from lockstep.checks.values import Known, compare, result, total
from lockstep.checks.wording import counted, named_ranks

POINTS = 3


def _rooted(ranks: int, seed: int, name: str) -> list[Case]:
    """The shared cases, each with a root: the group's first rank and, where there is one, another."""
    draw = random.Random(seed + 1)
    cases = []
    for number, case in enumerate(tensor_cases(ranks, seed)):
        plain = case.group is None and case.settings["layout"] == "contiguous" and case.settings["dtype"] == "float32"
        roots = [case.members[0] if plain and number == 0 else draw.choice(case.members[1:] or case.members)]
        if plain and number == 1:
            roots = [case.members[0], case.members[-1]]
        cases += [Case(ranks, case.seed, case.group, {**case.settings, name: root}) for root in roots]
    return cases


def _inputs(case: Case, rank: int) -> tuple[Tensor, int]:
    return integers(case, rank), case.settings["src"] if "src" in case.settings else case.settings["dst"]


def _broadcast_examine(seen: Seen) -> Fault | None:
    own, src = members_tensors(seen.case), seen.case.settings["src"]
    right = own[seen.case.members.index(src)]
    held = [result(seen, rank) for rank in seen.case.members]
    fault = compare(seen, held, [right] * len(own))
    if fault is None or fault.misconception != "wrong-values":
        return fault
    unchanged = [
        r for r, h, t in zip(seen.case.members, held, own, strict=True) if _equal(h, t) and not _equal(h, right)
    ]
    others = [h for r, h in zip(seen.case.members, held, strict=True) if r not in unchanged]
    if not unchanged or not all(_equal(h, right) for h in others):
        return fault
    arrived = number_received(seen.trace)
    if all(arrived[r] for r in unchanged):
        told = (
            "Its tensor has not changed although a message arrived: receive into the tensor itself, or copy it there."
        )
        return Fault("returns-nothing", f"{fault.message} {told}")
    told = (
        f"{named_ranks(unchanged).capitalize()} never receive{'' if len(unchanged) > 1 else 's'} anything: is there a "
        f"round missing? {counted(seen.case.size, 'rank')} need {counted((seen.case.size - 1).bit_length(), 'round')}."
    )
    return Fault("forgets-last-step", f"{fault.message} {told}")


def _reduce_examine(seen: Seen) -> Fault | None:
    own, dst = members_tensors(seen.case), seen.case.settings["dst"]
    seat = seen.case.members.index(dst)
    right = total(own)
    held = [result(seen, rank) if rank == dst else None for rank in seen.case.members]
    averaged = (right.double() / len(own)).to(right.dtype)
    known = [Known("averages", "this is the average; the exercise asks for the sum.", _only(seat, averaged, len(own)))]
    fault = compare(seen, held, _only(seat, right, len(own)), known)
    if fault is None or fault.misconception != "wrong-values":
        return fault
    return _missing(seen, fault, held[seat], own, seat)


def _only(seat: int, tensor: Tensor, size: int) -> list[Tensor | None]:
    return [tensor if s == seat else None for s in range(size)]


def _missing(seen: Seen, fault: Fault, held: Any, own: list[Tensor], seat: int) -> Fault:
    """The result may be the sum of some of the tensors: of which?"""
    seats = _summands(held, own)
    arrived, members = number_received(seen.trace), seen.case.members
    if seats == (seat,):
        if arrived[members[seat]]:
            return Fault("returns-nothing", f"{fault.message} Its tensor has not changed: is the sum in a copy?")
        return Fault("no-messages", f"{fault.message} Nothing is ever sent to it.")
    if seats is None:
        return fault
    if len(seats) == 1:
        told = f"It holds rank {members[seats[0]]}'s tensor alone: add what arrives to what is there."
        return Fault("forgets-to-add", f"{fault.message} {told}")
    lost = [r for s, r in enumerate(members) if s not in seats]
    if _sent_too_early(seen):
        told = f"{_lack(lost)}: a rank sends its sum before its own subtree has arrived."
        return Fault("wrong-order", f"{fault.message} {told}")
    told = f"{_lack(lost)}: pass on the sum that you have received, not your own tensor alone."
    return Fault("drops-partial-sums", f"{fault.message} {told}")


def _lack(ranks: list[int]) -> str:
    return f"What {named_ranks(ranks)} had is missing"


def _summands(held: Any, own: list[Tensor]) -> tuple[int, ...] | None:
    """The proper subset of tensors that ``held`` is the sum of, if there is one."""
    for size in range(1, len(own)):
        for seats in combinations(range(len(own)), size):
            if _equal(held, total([own[s] for s in seats])):
                return seats
    return None


def _sent_too_early(seen: Seen) -> bool:
    found = messages(seen.trace)
    return any(a.source == b.target and a.sent.posted < b.received.end for a in found for b in found)


def _equal(a: Any, b: Tensor) -> bool:
    return isinstance(a, Tensor) and torch.equal(a, b)


def _cost(seen: Seen) -> list[Fault]:
    """K-1 messages of N bytes in all, ceil(log2 K) rounds."""
    case, found = seen.case, messages(seen.trace)
    depth, took, spent = (case.size - 1).bit_length(), rounds(seen.trace), sum(m.nbytes for m in found)
    begin = f"With {case}, "
    if spent > (case.size - 1) * nbytes(case):
        told = f"{begin}{counted(len(found), 'message')} are sent; {case.size - 1} of the tensor's size suffice: "
        return [Fault("everyone-sends", f"{told}nobody needs what it has, and only the root needs the result.")]
    if took <= depth:
        return []
    told = f"{begin}{counted(took, 'message')} follow one another; a tree needs {depth}. "
    if hub(seen.trace) is not None:
        return [Fault("star", f"{told}The root does all the work, one message after the other: let the others help.")]
    if took == case.size - 1:
        return [
            Fault("chain", f"{told}Everyone waits for the one before: let all who have the data send at the same time.")
        ]
    return [Fault("too-many-rounds", told)]


def _judge_broadcast(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _broadcast_examine, _cost, forbidden=BUILT_BY_HAND)


def _judge_reduce(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _reduce_examine, _cost, forbidden=BUILT_BY_HAND)


BROADCAST = Exercise(
    id="communication.tree_broadcast",
    title="Broadcast along a tree",
    points=POINTS,
    minutes=25,
    parameters="tensor, src, group=None",
    cases=lambda ranks, seed: _rooted(ranks, seed, "src"),
    inputs=_inputs,
    judge=_judge_broadcast,
    reference="lockstep.collectives:tree_broadcast",
    seconds=2.5,
)

REDUCE = Exercise(
    id="communication.tree_reduce",
    title="Reduce along a tree",
    points=POINTS,
    minutes=20,
    parameters="tensor, dst, group=None",
    cases=lambda ranks, seed: _rooted(ranks, seed, "dst"),
    inputs=_inputs,
    judge=_judge_reduce,
    reference="lockstep.collectives:tree_reduce",
    seconds=2.5,
)
