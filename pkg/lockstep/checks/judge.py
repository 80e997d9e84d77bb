"""The judge of a check: from all runs of an answer to findings and points. What is wrong with a single run,
``run_faults.py`` says, or the exercise itself. Pure: an Observation in, Findings out.

The order is that of a good teacher. First what makes the rest pointless: a function that cannot be called, that is
not written, that calls the library's answer. Then *which* cases go wrong, since a pattern (only two ranks, only even
sizes) explains more than any single failure. Then *how* they go wrong. Only when every value is right are messages,
bytes and rounds looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Protocol

from lockstep.checks.case import Case
from lockstep.checks.failing_cases import explain, kept, special
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.traffic import collectives
from lockstep.checks.unfinished_transfers import came_too_early, unsafe
from lockstep.checks.wording import LONGER, counted

STEP = 0.25  # points are given in quarters
MANY = 100  # messages of one rank at one line: no answer to an exercise needs as many
MOST = 4  # findings that anybody reads
OF_VALUES = ("wrong-values", "wrong-shape", "wrong-dtype")  # faults that a closer look may explain
DEAF = (
    "What counts your ranks' memory was replaced while your function ran. So nobody knows what they held, and that is "
    "what this exercise asks. Leave Lockstep's own functions as they are."
)


@dataclass(frozen=True)
class Fault:
    """What is wrong with one case. ``aside`` helps to find the mistake, as long as nobody knows which it is.
    ``telling``: a known wrong answer may do the same, as with wrong values."""

    misconception: str
    message: str
    aside: str = ""
    earned: float = 0.0  # the share of the case's points for values that is earned all the same
    telling: bool = False
    price: float = 0.0  # points, of a cost that is worth less than all points for costs


@dataclass(frozen=True)
class Finding:
    """A sentence for the learner. ``points`` is what it costs."""

    message: str
    misconception: str = ""
    points: float = 0.0
    case: Case | None = None


Examine = Callable[[Seen], Fault | None]
Economise = Callable[[Seen], Sequence[Fault]]


class Closer(Protocol):
    """A closer look at what is wrong, in runs of which the first is that of the fault: see ``closer_look.py``."""

    def passes(self, case: Case) -> bool: ...

    def values(self, seen: Sequence[Seen], fault: Fault) -> Fault | None: ...

    def sentence(self, seen: Seen, fault: Fault) -> Fault: ...

    def cost(self, seen: Sequence[Seen], fault: Fault) -> Fault | None: ...


def mark(
    observation: Observation,
    points: float,
    examine: Examine,
    economise: Economise = lambda seen: (),
    values: float = 0.5,
    forbidden: Sequence[str] = (),
    closer: Closer | None = None,
) -> list[Finding]:
    """Findings of an exercise worth ``points``. ``examine`` looks at one case's values, ``economise`` at what they
    cost; the share ``values`` of the points is for right values, the rest for a right cost. ``closer`` says more of
    what is wrong."""
    hopeless = _hopeless(observation, points, forbidden)
    if hopeless:
        return [hopeless]
    faults = [(seen, fault_of(seen, examine)) for seen in observation]
    if any(fault for _, fault in faults):
        return _wrong(observation, faults, points, values, closer)
    return _unseen(observation, points) or _with_praise(
        [*_careless(observation, points), *_wasteful(observation, economise, points * (1 - values), closer)]
    )


def fault_of(seen: Seen, examine: Examine) -> Fault | None:
    return crash(seen) if seen.failure else examine(seen)


def crash(seen: Seen) -> Fault:
    """The run's own error, which already names the ranks and their lines."""
    assert seen.failure is not None
    failure = _endless(seen, seen.failure) if seen.failure.kind == "TimeLimit" else seen.failure
    return Fault(f"crashed:{failure.kind}", f"With {seen.case}: {_shortened(failure)}")


def _endless(seen: Seen, failure: Failure) -> Failure:
    """The failure with the words for a run that sent messages until its time was up."""
    rank, where, number = _most_repeated(seen)
    if failure.paced:
        return failure
    if number < MANY:
        on = " on every rank" if seen.case.size > 1 else ""
        return replace(failure, remedy=f"Either a loop never ends{on}, or {LONGER}")
    told = f"Rank {rank} was still at it after {counted(number, 'message')} at {where}."
    return replace(failure, message=told, remedy=f"Either that loop never ends, or {LONGER}")


def _most_repeated(seen: Seen) -> tuple[int, str, int]:
    """The rank and the line that moved the most messages, and how many."""
    moved = Counter((e.rank, e.where) for e in seen.trace.of_kind("send", "recv"))
    (rank, where), number = max(moved.items(), key=lambda row: row[1], default=((0, ""), 0))
    return rank, where, number


def plainly_endless(observation: Observation) -> bool:
    """So many messages that no slow machine explains them."""
    return any(seen.failure and _most_repeated(seen)[2] >= 10 * MANY for seen in observation)


def _shortened(failure: Failure, lines: int = 14) -> str:
    ranks = [] if failure.kind == "RankRaised" else [f"  {line}" for line in failure.states]
    told = "\n".join([failure.message, *ranks, failure.remedy]).strip().splitlines()
    return "\n".join(told if len(told) <= lines else [*told[:lines], f"... and {len(told) - lines} more lines"])


def _hopeless(observation: Observation, points: float, forbidden: Sequence[str]) -> Finding | None:
    """Whatever makes everything else pointless."""
    if observation.problem:
        return Finding(observation.problem, "no-function", points)
    if observation.signature:
        return Finding(observation.signature, "signature", points)
    for seen in observation:
        if seen.failure and seen.failure.not_written:
            told = "This is not written yet: it raises NotImplementedError. Replace that line by your answer."
            return Finding(told, "not-written", points, seen.case)
        if seen.failure and seen.failure.library_answer:
            told = "You call Lockstep's own answer, or a part of it. Here you write it yourself; compare afterwards."
            return Finding(told, "library-call", points, seen.case)
        if any(memory and memory.get("deaf") for memory in seen.memory):
            return Finding(DEAF, "deaf-book", points, seen.case)
        called = collectives(seen.trace, forbidden)
        if called:
            place = f" ({called[0].where})" if called[0].where else ""
            told = (
                f"You call dist.{called[0].kind}{place}. Here you build it yourself, from send and recv alone: "
                "isend, irecv and batch_isend_irecv count as these."
            )
            return Finding(told, "library-call", points, seen.case)
    return None


def _wrong(
    observation: Observation,
    faults: Sequence[tuple[Seen, Fault | None]],
    points: float,
    values: float,
    closer: Closer | None,
) -> list[Finding]:
    """Some values are wrong, or some runs failed: credit for the share of cases that went well."""
    early = any(fault and came_too_early(seen) for seen, fault in faults)  # what it read then is chance
    found = [] if early else _recognised(faults, closer)
    found = found or _general(faults, closer)
    earned = _earned(observation, faults, points * values)
    case = next((f.case for f in found if f.case), None)
    return [replace(found[0], points=points - earned, case=case), *found[1:]]


def _recognised(faults: Sequence[tuple[Seen, Fault | None]], closer: Closer | None) -> list[Finding]:
    """The one finding of an answer that is known."""
    telling = [(s, f) for s, f in faults if f and not s.failure and (f.telling or f.misconception in OF_VALUES)]
    if not telling or closer is None:
        return []
    seen, fault = min(telling, key=lambda row: _plainness(row[0]))
    others = sorted(
        (s for s, _ in faults if s is not seen), key=lambda s: (s not in [t for t, _ in telling], s.case.size)
    )
    known = closer.values([seen, *others], fault)
    return [Finding(known.message, known.misconception, 0.0, seen.case)] if known else []


def _general(faults: Sequence[tuple[Seen, Fault | None]], closer: Closer | None) -> list[Finding]:
    """What can be said of any answer: which cases go wrong, and how."""
    forgotten = _forgotten(faults)  # what was read is then a matter of time, and says nothing
    look = None if forgotten else closer
    tried = _tried(faults)
    held = kept(tried, look.passes) or explain(tried, look.passes) if look else []
    pattern = [Finding(message, id, 0.0) for id, message in held]
    kinds: dict[str, Finding] = {}
    for seen, fault in sorted(faults, key=lambda row: _plainness(row[0])):
        if fault and fault.misconception not in kinds:
            told = look.sentence(seen, fault) if look and fault.misconception in OF_VALUES else fault
            message = f"{told.message} {told.aside}".strip()
            kinds[fault.misconception] = Finding(message, told.misconception, 0.0, seen.case)
    if any(f.misconception == "ignores-group" for f in pattern):  # who is not in the group was never called
        kinds = {id: f for id, f in kinds.items() if not (id == "crashed:Deadlock" and f.case and f.case.group)}
    return [*(forgotten or pattern), *kinds.values()][:MOST]


def _tried(faults: Sequence[tuple[Seen, Fault | None]]) -> list[tuple[Case, bool]]:
    """Which cases failed. Whether a case ran out of time says more of the machine than of the case."""
    return [(s.case, f is not None) for s, f in faults if not (s.failure and s.failure.kind == "TimeLimit")]


def _plainness(seen: Seen) -> tuple[bool, bool, bool, float]:
    """Sorts first the run that shows the most."""
    return seen.case.trivial, seen.case.size == 2, special(seen.case), abs(seen.case.size - 4)


def _forgotten(faults: Sequence[tuple[Seen, Fault | None]]) -> list[Finding]:
    """Where values are wrong, a transfer that nobody waited for is the likely reason: it comes first."""
    told = [(seen, unsafe(seen, wrong=True)) for seen, fault in faults if fault]
    return [Finding(t[1], t[0], 0.0, seen.case) for seen, t in told if t][:1]


def _careless(observation: Observation, points: float) -> list[Finding]:
    """Where values are right, it is luck, and costs a quarter of the points."""
    told = [(seen, unsafe(seen)) for seen in _from_the_plainest(observation)]
    cost = max(STEP, floor(points / 4 / STEP) * STEP)
    return [Finding(t[1], t[0], cost, seen.case) for seen, t in told if t][:1]


def _earned(observation: Observation, faults: Sequence[tuple[Seen, Fault | None]], share: float) -> float:
    """In quarters, rounded down. Cases that cannot go wrong earn nothing, but cost something when they do."""
    right = sum(fault.earned if fault else 1.0 for seen, fault in faults if not seen.case.trivial)
    tried = sum(1 for seen, _ in faults if not seen.case.trivial)
    left_out = sum(1 for case in observation.unseen if not case.trivial)
    if not right:
        return 0.0
    stumbled = STEP if any(fault and seen.case.trivial for seen, fault in faults) else 0.0
    return max(0.0, floor(share * right / (tried + left_out) / STEP) * STEP - stumbled)


def _unseen(observation: Observation, points: float) -> list[Finding]:
    """Nothing was wrong until the time was up."""
    if not observation.unseen:
        return []
    left, all_cases = len(observation.unseen), len(observation.seen) + len(observation.unseen)
    told = f"Your function is too slow to check: {left} of {counted(all_cases, 'case')} could not be tried."
    return [Finding(told, "too-slow", points, observation.unseen[0])]


def _wasteful(observation: Observation, economise: Economise, share: float, closer: Closer | None) -> list[Finding]:
    """Every value is right; what did it cost? The plainest case that shows it speaks for the others."""
    plainest = _from_the_plainest(observation)
    told = ((seen, {f.misconception: f for f in economise(seen)}) for seen in plainest)
    for seen, faults in told:
        each = floor(share / max(1, len(faults)) / STEP) * STEP
        if faults:
            if closer and len(faults) == 1:
                (fault,) = faults.values()
                runs = [seen, *(s for s in plainest if s is not seen)]
                faults = {fault.misconception: closer.cost(runs, fault) or fault}
            return [Finding(f.message, f.misconception, f.price or each, seen.case) for f in faults.values()]
    return []


def _from_the_plainest(observation: Observation) -> list[Seen]:
    """Large enough to see something, small enough to see it."""
    return sorted(observation, key=lambda s: (special(s.case), abs(s.case.size - 4.5)))


def _with_praise(found: list[Finding]) -> list[Finding]:
    return [replace(f, message=f"The values are right. {f.message}") for f in found[:1]] + found[1:]
