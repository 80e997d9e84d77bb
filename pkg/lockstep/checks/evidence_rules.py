"""Rules: sentences about a run, each with a condition on its evidence. The most specific rule comes first."""

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
    """``told`` is the sentence for evidence where ``holds`` is true, with fields of the evidence in braces. ``price``:
    points that a cost takes."""

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
    """The fault by the first rule that holds for any of the evidence; a rule may rely on those before it."""
    found = (rule.of(one) for rule in rules for one in evidence)
    return next((fault for fault in found if fault), None)
