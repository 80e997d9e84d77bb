"""Budgets: upper and lower limits for what a run costs, relative to what the algorithm needs.

A ``Budget`` compares what was counted with ``need(case)``. More than ``at_most`` times that costs points. Less than
``at_least`` times that is impossible by a theorem, so the result came about some other way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lockstep.checks.case import DTYPES, Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.traffic import collectives, hub, messages, number_received, number_sent, rounds, sent
from lockstep.checks.wording import counted
from lockstep.events import COLLECTIVES


@dataclass(frozen=True)
class Measure:
    """What a budget counts in a run. ``count(seen)`` is the number of ``noun``s; ``have`` and ``spent`` are the phrases
    for it in a run that costs too much and in one that does not. ``name`` is needed outside of MEASURES."""

    count: Callable[[Seen], float]
    noun: str
    have: str
    spent: str
    name: str = ""

    def told(self, number: float) -> str:
        return self.have.format(self.counted(number))

    def counted(self, number: float) -> str:
        """As in "1 message", "2.5 wavefronts"."""
        return counted(int(number), self.noun) if number == int(number) else f"{number:,.3g} {self.noun}s"


MEASURES: Mapping[str, Measure] = {
    "bytes": Measure(lambda seen: max(sent(seen.trace).values(), default=0), "byte", "a rank sends {}", "{} a rank"),
    "all bytes": Measure(lambda seen: sum(sent(seen.trace).values()), "byte", "the ranks send {}", "{} in all"),
    "messages": Measure(
        lambda seen: max(number_sent(seen.trace).values(), default=0), "message", "a rank sends {}", "{} a rank"
    ),
    "all messages": Measure(lambda seen: len(messages(seen.trace)), "message", "the ranks send {}", "{} in all"),
    "rounds": Measure(lambda seen: rounds(seen.trace), "message", "{} follow one another", "{} one after another"),
    "collectives": Measure(lambda seen: max(_called(seen).values(), default=0), "collective", "a rank calls {}", "{}"),
    "barriers": Measure(
        lambda seen: max(Counter(e.rank for e in collectives(seen.trace, {"barrier"})).values(), default=0),
        "barrier",
        "a rank calls {}",
        "{}",
    ),
    "collective bytes": Measure(
        lambda seen: max(map(sum, _carried(seen))), "byte", "a rank's collectives carry {}", "{} a rank"
    ),
    "largest collective": Measure(
        lambda seen: max(max(of_rank, default=0) for of_rank in _carried(seen)),
        "byte",
        "one collective carries {}",
        "{} at once",
    ),
    "flops": Measure(lambda seen: max(_computed(seen)), "FLOP", "a rank computes {}", "{} a rank"),
    "transfers": Measure(lambda seen: min(_transfers(seen)), "transfer", "a rank takes part in {}", "{} of a rank"),
}


def _called(seen: Seen) -> Counter[int]:
    """Collectives of each rank, but for barriers: they move nothing."""
    return Counter(event.rank for event in collectives(seen.trace, set(COLLECTIVES) - {"barrier"}))


def _carried(seen: Seen) -> list[list[int]]:
    """By member of the group, the bytes of each of its collectives."""
    called = collectives(seen.trace)
    return [[event.nbytes for event in called if event.rank == rank] for rank in seen.case.members]


def _computed(seen: Seen) -> list[int]:
    """FLOPs of each member of the group, as far as torch counts them; 0 where nobody sees what is computed."""
    return [sum(event.flops for event in seen.trace.of_rank(rank)) for rank in seen.case.members]


def _transfers(seen: Seen) -> list[int]:
    """Messages, in and out, and collectives of each member of the group."""
    out, into, called = number_sent(seen.trace), number_received(seen.trace), _called(seen)
    return [out[rank] + into[rank] + called[rank] for rank in seen.case.members]


@dataclass(frozen=True)
class Budget:
    """A limit for one measure. ``formula`` is ``need`` as learners read it: "2(K-1)/K·N". ``slack`` is an allowance on
    top of ``need``, in the same unit, for sizes that do not divide."""

    measure: str | Measure  # of MEASURES, by messages; or one of the exercise's own
    need: Callable[[Case], float]
    formula: str = ""
    at_most: float | None = 1.0
    at_least: float | None = None
    slack: Callable[[Case], float] = lambda case: 0.0
    advice: str | Callable[[Seen], str] = ""
    remarks: bool = True  # whether it is said where the messages go: not where that is as it should be

    def over(self, seen: Seen, of: str) -> Fault | None:
        """The fault of a run that costs too much. ``of`` names the algorithm: "a ring"."""
        have, need = self.measured.count(seen), self.need(seen.case)
        if self.at_most is None or have <= self.at_most * need + self.slack(seen.case):
            return None
        times = f"{have / need:.3g} times the" if need and have >= 1.01 * need else "more than the"
        needs = f"{_told(need)} that {of} needs{f' ({self.formula})' if self.formula else ''}"
        advice = self.advice if isinstance(self.advice, str) else self.advice(seen)
        told = f"With {seen.case}, {self.measured.told(have)}: {times} {needs}. {self._remark(seen)}{advice}"
        return Fault(f"too-many-{self._name}", told.strip())

    def under(self, seen: Seen, of: str) -> Fault | None:
        """The fault of a run that costs less than is possible. There is such a bound for messages, in groups of two
        ranks or more with an element for each."""
        have, need = self.measured.count(seen), self.need(seen.case)
        by_messages = isinstance(self.measure, str)
        if self.at_least is None or have >= self.at_least * need or (by_messages and not has_bound(seen.case)):
            return None
        formula = f" ({self.formula})" if self.formula else ""
        begin, least = f"With {seen.case}, {self.measured.told(have)}.", f"{_told(self.at_least * need)}{formula}"
        if by_messages:
            told = f"{begin} No program that computes this by messages can do with less than {least}: "
            return Fault("not-by-messages", f"{told}the values did not come by these messages.")
        told = f"{begin} Less than {least} is not enough for {of}: the values came about in another way."
        return Fault(f"too-few-{self._name}", told)

    def spent(self, seen: Seen) -> str:
        """As in "24 bytes a rank, the least there is"."""
        have, need = self.measured.count(seen), self.need(seen.case)
        bound = self.at_least == self.at_most == 1 and (not isinstance(self.measure, str) or has_bound(seen.case))
        least = ", the least there is" if bound and have <= need else ""
        return self.measured.spent.format(self.measured.counted(have)) + least

    def _remark(self, seen: Seen) -> str:
        return remark(seen, self._name) if self.remarks else ""

    @property
    def measured(self) -> Measure:
        return MEASURES[self.measure] if isinstance(self.measure, str) else self.measure

    @property
    def _name(self) -> str:
        return (self.measure if isinstance(self.measure, str) else self.measure.name).replace(" ", "-")


def has_bound(case: Case) -> bool:
    """Whether each rank has something that others need."""
    return case.size > 1 and case.settings.get("numel", case.size) >= case.size


def remark(seen: Seen, measure: str) -> str:
    """What can be said of where the messages go, and of bytes how many each carries; a sentence and a space, or
    nothing."""
    found, case = messages(seen.trace), seen.case
    if not found or case.size < 3 or measure == "barriers":
        return ""
    center = hub(seen.trace)
    if center is not None:
        into, out = number_received(seen.trace)[center], number_sent(seen.trace)[center]
        return (
            f"Every message goes to rank {center} or comes from it: {into} in and {out} out go through its port, one "
            "after the other. "
        )
    if rounds(seen.trace) == len(found) > 2:
        return "No two messages travel at the same time. "
    numel = case.settings.get("numel")
    whole = max(m.nbytes for m in found)
    if numel and "bytes" in measure and all(m.nbytes == whole == numel * item_size(seen) for m in found):
        return f"Each message carries all {counted(numel, 'element')}. "
    peers = {r: {m.target for m in found if m.source == r} for r in case.members}
    if case.size > 3 and all(len(p) == case.size - 1 for p in peers.values()):
        return "Every rank sends to every other one. "
    return ""


def item_size(seen: Seen) -> int:
    """Bytes of an element of the tensor that the case is about."""
    return DTYPES[seen.case.settings.get("dtype", "float32")].itemsize


def _told(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def exceeded(budgets: Sequence[Budget], of: str) -> Callable[[Seen], list[Fault]]:
    """A function that returns the fault of the first budget that a run exceeds, or stays impossibly far below."""

    def economise(seen: Seen) -> list[Fault]:
        faults = (fault for budget in budgets for fault in (budget.under(seen, of), budget.over(seen, of)))
        return [fault for fault in faults if fault][:1]

    return economise
