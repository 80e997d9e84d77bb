"""What Python says of a frequent slip, and what a beginner can do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lockstep.checks.judge import Finding

CRASHED = "crashed:RankRaised"
Hint = tuple[str, str]  # a pattern in the error of a crash, or the id of how else a run ended; and what to do

ANYWHERE: tuple[Hint, ...] = (
    (r"operand type\(s\) for \^", "In Python a power is **, not ^."),
    (r"TypeError: .*'(str|method|function|builtin_function_or_method)' ", "One of these is no number: what is it? "
     "Print its type in a cell of your own."),
    (r"NameError", "Is it spelled as where you define it, and defined before this line runs?"),
    (r"ZeroDivisionError", "What stands under the fraction becomes 0 there: can the formula be written without that "
     "division?"),
    (r"RecursionError", "A function that calls itself once for every worker soon has called itself too often: use a "
     "loop, or work the number out."),
)  # fmt: skip


def hinted(findings: Sequence[Finding], *tables: Sequence[Hint]) -> list[Finding]:
    """The findings, where a crash is followed by what to do about it."""
    hints = [hint for table in tables for hint in table] + list(ANYWHERE)
    return [_hinted(finding, hints) for finding in findings]


def _hinted(finding: Finding, hints: Sequence[Hint]) -> Finding:
    hint = next((told for pattern, told in hints if _is_of(finding, pattern)), "")
    return replace(finding, message=f"{finding.message}\n{hint}") if hint else finding


def _is_of(finding: Finding, pattern: str) -> bool:
    if finding.misconception == CRASHED:
        return re.search(pattern, finding.message) is not None
    return finding.misconception == pattern
