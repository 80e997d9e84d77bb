"""Rules: what is told of a run where its evidence says so, as data. The most telling one stands first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.checks.judge import Fault
from lockstep.checks.observe import Ungraded

UNGRADED = "ungraded"  # a rule of this name is about what is not the learner's fault
Evidence = dict[str, Any]


@dataclass(frozen=True)
class Rule:
    """``told`` is the sentence for evidence of which ``holds``; it has the evidence's fields in braces. ``price``: of a
    cost, in points."""

    misconception: str
    holds: Callable[[Evidence], Any]
    told: str
    price: float = 0.0
    telling: bool = False  # whether a known wrong answer may do the same

    def of(self, evidence: Evidence) -> Fault | None:
        """None where it does not hold. Raises Ungraded where nobody can be judged."""
        if not self.holds(evidence):
            return None
        told = self.told.format_map(evidence)
        if self.misconception == UNGRADED:
            raise Ungraded(told)
        return Fault(self.misconception, told, telling=self.telling, price=self.price)


def first(rules: Sequence[Rule], *evidence: Evidence) -> Fault | None:
    """What the first rule tells that holds of any of the evidence; later ones may rely on those before."""
    found = (rule.of(one) for rule in rules for one in evidence)
    return next((fault for fault in found if fault), None)
