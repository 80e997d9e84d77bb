"""What Python says of a frequent slip, and what a beginner can do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lockstep.checks.judge import Finding
from lockstep.checks.observation import Failure, Observation

CRASHED = "crashed:RankRaised"
Hint = tuple[str, str]  # a pattern in ``Failure.raised``, and what to do

ANYWHERE: tuple[Hint, ...] = (
    (r"^TypeError: .*operand type\(s\) for \^", "In Python a power is **, not ^."),
    (r"^TypeError: .*'(str|method|function|builtin_function_or_method)' ", "One of these is no number: what is it? "
     "Print its type in a cell of your own."),
    (r"^NameError: ", "Is it spelled as where you define it, and defined before this line runs?"),
    (r"^ZeroDivisionError: ", "What stands under the fraction becomes 0 there: can the formula be written without that "
     "division?"),
    (r"^RecursionError: ", "A function that calls itself once for every worker soon has called itself too often: use a "
     "loop, or work the number out."),
)  # fmt: skip


def hinted(findings: Sequence[Finding], observation: Observation, *tables: Sequence[Hint]) -> list[Finding]:
    """The findings, where a crash is followed by what to do about it."""
    hints = [hint for table in tables for hint in table] + list(ANYWHERE)
    return [_hinted(f, observation.failure_with(f.case), hints) if f.misconception == CRASHED else f for f in findings]


def _hinted(finding: Finding, failure: Failure | None, hints: Sequence[Hint]) -> Finding:
    """The patterns look at what Python says of the exception, and never at a sentence of Lockstep's."""
    raised = failure.raised if failure else ""
    hint = next((told for pattern, told in hints if re.search(pattern, raised)), "")
    return replace(finding, message=f"{finding.message}\n{hint}") if hint else finding
