"""``ring_all_reduce``: the sum everywhere, judged by values, bytes and rounds. Other all-reduces share what is here."""

from __future__ import annotations

import torch

from lockstep.checks.communication.tensors import (
    BUILT_BY_HAND,
    itemsize,
    members_tensors,
    nbytes,
    one_tensor,
    tensor_cases,
)  # fmt: skip
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.traffic import hub, messages, number_received, number_sent, rounds, sent
from lockstep.checks.values import Known, compare, result, total
from lockstep.checks.wording import counted

POINTS = 5
BY_TURNS = 3  # even ranks send first, odd ranks receive first; with an odd number of ranks two neighbours are alike


def examine(seen: Seen, reduce_scatter: int, all_messages: int) -> Fault | None:
    """The sum on every member. ``reduce_scatter`` and ``all_messages``: what a rank sends in the first half, and in
    all."""
    own = members_tensors(seen.case)
    size, right = seen.case.size, total(own)
    averaged = (right.double() / size).to(right.dtype)
    known = [Known("averages", "this is the average; the exercise asks for the sum.", [averaged] * size)]
    fault = compare(seen, [result(seen, rank) for rank in seen.case.members], [right] * size, known)
    if fault is None or fault.misconception != "wrong-values":
        return fault
    unchanged = [torch.equal(seen.arguments[r][0], t) for r, t in zip(seen.case.members, own, strict=True)]
    most = max(number_sent(seen.trace).values(), default=0)
    lost = all(unchanged) and all(seen.returned[r] is None for r in seen.case.members)
    return _by_messages(seen, fault, lost, most, reduce_scatter, all_messages)


def _by_messages(seen: Seen, fault: Fault, lost: bool, most: int, reduce_scatter: int, all_messages: int) -> Fault:
    """How far a rank came, told by how many messages it sent."""
    begin = f"{fault.message} "
    if lost and most:
        return Fault(
            "returns-nothing", f"{begin}You return nothing, and the tensor has not changed: is the sum in a copy?"
        )
    if most == 0:
        return Fault("no-messages", f"{begin}No rank sends anything.")
    if most == reduce_scatter and seen.case.size > 2 and _each_has_a_share(seen):
        told = (
            f"Each rank sends {counted(most, 'message')}, which is the first half: one chunk is complete, the others "
        )
        return Fault(
            "reduce-scatter-only", f"{begin}{told}are partial sums. The second trip, the all-gather, is missing."
        )
    if most == all_messages - 1 and seen.case.settings["numel"] >= seen.case.size:  # else chunks are empty
        told = f"Each rank sends {counted(most, 'message')}; {all_messages} are needed. It looks as if the all-gather "
        return Fault("forgets-last-step", f"{begin}{told}stops one step early.")
    if all_messages < most <= all_messages + 2:
        told = f"A rank sends {counted(most, 'message')}; {all_messages} are needed, half of them in each trip. "
        return Fault("one-round-too-many", f"{begin}{told}Does a loop take one turn too many?")
    if most == all_messages and seen.case.settings["numel"] >= seen.case.size:
        told = (
            "The number of messages is right. Look at the second half: does it store what arrives there, which is "
            "complete already, or add it? And does each rank begin it with the part that it has completed?"
        )
        return Fault("adds-in-all-gather", f"{begin}{told}")
    return fault


def _each_has_a_share(seen: Seen) -> bool:
    """As many elements are complete on each rank as a chunk has."""
    right = total(members_tensors(seen.case))
    held = [result(seen, rank) for rank in seen.case.members]
    return all(int((h == right).sum()) >= right.numel() // seen.case.size for h in held)


def bytes_faults(
    seen: Seen, allowed: float, needed: float, formula: str, advice: str, all_messages: int
) -> list[Fault]:
    """Too many bytes for a rank, and what they look like. ``allowed`` leaves room for sizes that do not divide."""
    case, whole, by_rank = seen.case, nbytes(seen.case), sent(seen.trace)
    most = max(by_rank.values(), default=0)
    center = hub(seen.trace)
    if center is not None and case.size > 2:
        told = (
            f"With {case}, every message goes to rank {center} or comes from it: its port carries "
            f"{counted(number_received(seen.trace)[center], 'message')} in and as many out, while the others wait."
        )
        return [Fault("gather-to-one", told)]
    if most <= allowed:
        return []
    ratio = f"{most / needed:.3g} times as much as" if needed else "more than"
    told = f"With {case}, a rank sends {most:,} bytes: {ratio} {formula} needs. "
    peers = max(len({m.target for m in messages(seen.trace) if m.source == r}) for r in case.members)
    if peers == case.size - 1 and case.size > 3:
        return [Fault("all-to-all-peers", f"{told}Every rank sends to every other one: talk to your neighbours only.")]
    if all(m.nbytes == whole for m in messages(seen.trace)):
        return [Fault("whole-tensor", f"{told}The whole tensor travels in every message: {advice}")]
    number = max(number_sent(seen.trace).values())
    if number > all_messages:
        told += f"It sends {counted(number, 'message')}; {all_messages} are enough. Does a loop take a turn too many?"
        return [Fault("one-round-too-many", told)]
    return [Fault("too-many-bytes", told)]


def rounds_faults(seen: Seen, best: int, algorithm: str, hint: str) -> list[Fault]:
    """Blocking calls by turns, which are allowed, take up to three rounds where one would do."""
    took = rounds(seen.trace)
    if took <= BY_TURNS * best:
        return []
    told = f"With {seen.case}, {counted(took, 'message')} follow one another; {algorithm} takes {best}. {hint}"
    return [Fault("too-many-rounds", told)]


def _ring_examine(seen: Seen) -> Fault | None:
    return examine(seen, seen.case.size - 1, 2 * (seen.case.size - 1))


def _ring_cost(seen: Seen) -> list[Fault]:
    K, numel = seen.case.size, seen.case.settings["numel"]
    smallest, largest = numel // K, -(-numel // K)
    allowed = itemsize(seen.case) * max(2 * (numel - smallest), 2 * (K - 1) * largest)
    needed = 2 * (K - 1) / K * nbytes(seen.case)
    wide = bytes_faults(seen, allowed, needed, "a ring, with 2(K-1)/K·N,", "cut it into chunks first.", 2 * (K - 1))
    hint = "Let all ranks send and receive at once: isend and irecv."
    return wide or rounds_faults(seen, 2 * (K - 1), "a ring", hint)


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _ring_examine, _ring_cost, forbidden=BUILT_BY_HAND)


RING = Exercise(
    id="communication.ring_all_reduce",
    title="The ring all-reduce",
    points=POINTS,
    minutes=40,
    parameters="tensor, group=None",
    cases=tensor_cases,
    inputs=one_tensor,
    judge=_judge,
    reference="lockstep.collectives:ring_all_reduce",
    seconds=2.5,
)
