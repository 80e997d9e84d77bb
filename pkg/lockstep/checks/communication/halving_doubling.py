"""``halving_doubling_all_reduce``: judged like the ring, and by the halves that partners keep and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.communication.all_reduce import bytes_faults, examine, rounds_faults
from lockstep.checks.communication.tensors import (
    BUILT_BY_HAND,
    itemsize,
    members_tensors,
    nbytes,
    one_tensor,
    tensor_cases,
)
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.traffic import messages, number_sent
from lockstep.checks.values import result, same
from lockstep.checks.wording import counted

POINTS = 5
Rule = Callable[[int, int, int], bool]  # rank r of K keeps the low half in the exchange over distance d

# In each of them the partners r and r XOR d keep the same half, over one distance at least.
SAME_HALF: Sequence[Rule] = (
    lambda r, d, K: True,
    lambda r, d, K: False,
    lambda r, d, K: r % 2 == 0,
    lambda r, d, K: r % 2 == 1,
    lambda r, d, K: r < K // 2,
    lambda r, d, K: r >= K // 2,
)


def _examine(seen: Seen) -> Fault | None:
    steps = _log2(seen.case)
    fault = examine(seen, steps, 2 * steps)
    if fault is None or fault.misconception not in ("wrong-values", "adds-in-all-gather"):
        return fault
    begin = fault.message.partition(" The number of messages")[0]
    return _doubling_order(seen, begin) or _same_half(seen, begin) or fault


def _same_half(seen: Seen, begin: str) -> Fault | None:
    """Is this what ranks would hold if partners kept the same half?"""
    held = [result(seen, rank) for rank in seen.case.members]
    own = members_tensors(seen.case)
    if not any(wrong and same(held, wrong) for wrong in (as_if(own, rule) for rule in SAME_HALF)):
        return None
    told = (
        "It looks as if two partners kept the same half, so that nobody completes the other one. The partners r and "
        "r ^ d differ in one bit, that of d: let r & d decide who keeps which half."
    )
    return Fault("keeps-same-half", f"{begin} {told}")


def as_if(own: Sequence[Tensor], keeps_low: Rule) -> list[Tensor] | None:
    """What K ranks that start with ``own`` would hold after halving and doubling; None if their halves did not fit."""
    K = len(own)
    held = [t.flatten().clone() for t in own]
    spans, given = held, []
    for d in (2**i for i in reversed(range(K.bit_length() - 1))):
        halves = [span.tensor_split(2) for span in spans]
        keep = [low if keeps_low(r, d, K) else high for r, (low, high) in enumerate(halves)]
        give = [high if keeps_low(r, d, K) else low for r, (low, high) in enumerate(halves)]
        incoming = [give[r ^ d].clone() for r in range(K)]
        if any(k.shape != i.shape for k, i in zip(keep, incoming, strict=True)):
            return None
        for k, i in zip(keep, incoming, strict=True):
            k += i
        spans = keep
        given.append((keep, give, d))
    for keep, give, d in reversed(given):
        complete = [k.clone() for k in keep]
        for r in range(K):
            give[r].copy_(complete[r ^ d])
    return [h.view_as(t) for h, t in zip(held, own, strict=True)]


def _doubling_order(seen: Seen, begin: str) -> Fault | None:
    """Doubling meets the partners of halving in the opposite order."""
    steps = _log2(seen.case)
    partners = [m.target for m in messages(seen.trace) if m.source == seen.case.members[0]]
    there, back = partners[:steps], partners[steps:]
    if steps < 2 or len(set(there)) < steps or there != back:
        return None
    told = (
        f"Rank {seen.case.members[0]} halves with {_in_turn(there)}, and doubles with them in the same order. Doubling "
        "goes backwards: the last partner first, since with it the smallest pieces are exchanged."
    )
    return Fault("doubling-order", f"{begin} {told}")


def _in_turn(ranks: Sequence[int]) -> str:
    return "rank " + ", then ".join(map(str, ranks))


def _cost(seen: Seen) -> list[Fault]:
    K, steps = seen.case.size, _log2(seen.case)
    needed = 2 * (K - 1) / K * nbytes(seen.case)
    allowed = needed + 2 * steps * itemsize(seen.case)
    hint = "That many rounds is the ring's way: exchange with the rank at distance K/2, then K/4, and so on."
    advice = "send the half that your partner keeps, then half of that."
    wide = bytes_faults(seen, allowed, needed, "halving and doubling, with 2(K-1)/K·N,", advice, 2 * steps)
    most = max(number_sent(seen.trace).values(), default=0)
    if not wide and most > 2 * steps:
        told = f"With {seen.case}, a rank sends {counted(most, 'message')}; {2 * steps} are enough, which is 2·log2 K. "
        return [Fault("too-many-rounds", told + hint)]
    return wide or rounds_faults(seen, 2 * steps, "halving and doubling", hint)


def _log2(case: Case) -> int:
    return case.size.bit_length() - 1


def _powers_of_two(ranks: int, seed: int) -> list[Case]:
    return [c for c in tensor_cases(ranks, seed) if c.size & (c.size - 1) == 0]


def _judge(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, _examine, _cost, forbidden=BUILT_BY_HAND)


HALVING_DOUBLING = Exercise(
    id="communication.halving_doubling_all_reduce",
    title="All-reduce by halving and doubling",
    points=POINTS,
    minutes=40,
    parameters="tensor, group=None",
    cases=_powers_of_two,
    inputs=one_tensor,
    judge=_judge,
    reference="lockstep.collectives:halving_doubling_all_reduce",
    seconds=2.5,
    worlds=(1, 2, 4, 8),
)
