"""What Python says of a frequent slip, and what a beginner can do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lockstep.checks.judge import Finding
from lockstep.checks.observation import Failure, Observation

CRASHED = "crashed:RankRaised"
HANGS = {"crashed:Stuck", "crashed:TimeLimit"}  # which of them is a matter of how it is run
Hint = tuple[str, str]  # a pattern in ``Failure.raised``, or the id of how else a run ended; and what to do

ANYWHERE: tuple[Hint, ...] = (
    (r"^TypeError: .*operand type\(s\) for \^", "In Python a power is **, not ^."),
    (r"^TypeError: .*'(str|method|function|builtin_function_or_method)' ", "One of these is no number: what is it? "
     "Print its type in a cell of your own."),
    (r"^AttributeError: 'NoneType' object has no attribute 'wait'", "A call that waits by itself returns None. With "
     "async_op=True a collective returns at once, with something that has a wait()."),
    (r"^NameError: ", "Is it spelled as where you define it, and defined before this line runs?"),
    (r"^ZeroDivisionError: ", "What stands under the fraction becomes 0 there: can the formula be written without that "
     "division?"),
    (r"^RecursionError: ", "A function that calls itself once for every worker soon has called itself too often: use a "
     "loop, or work the number out."),
)  # fmt: skip


def hinted(findings: Sequence[Finding], observation: Observation, *tables: Sequence[Hint]) -> list[Finding]:
    """The findings, where a crash is followed by what to do about it."""
    hints = [hint for table in tables for hint in table] + list(ANYWHERE)
    return [_hinted(finding, observation.failure_with(finding.case), hints) for finding in findings]


def _hinted(finding: Finding, failure: Failure | None, hints: Sequence[Hint]) -> Finding:
    hint = next((told for pattern, told in hints if _is_of(finding, failure, pattern)), "")
    return replace(finding, message=f"{finding.message}\n{hint}") if hint else finding


def _is_of(finding: Finding, failure: Failure | None, pattern: str) -> bool:
    """A pattern looks at what Python says of the exception, and never at a sentence of Lockstep's."""
    if finding.misconception == CRASHED:
        return failure is not None and re.search(pattern, failure.raised) is not None
    return finding.misconception == pattern or {finding.misconception, pattern} == HANGS
