"""The Score: what ``check`` returns. A number for nbgrader, feedback for a learner, JSON for a program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lockstep.checks.judge import Finding
from lockstep.errors import RankState
from lockstep.events import Trace

MOST_EVENTS = 2000  # a longer timeline would weigh more than the whole notebook


def drawable(trace: Trace) -> bool:
    """Whether a timeline of it shows something, and is no burden."""
    return bool(trace.communication) and trace.time > 0 and len(trace) <= MOST_EVENTS


class Score(float):
    """The points, as a float that is finite and never outside 0 ... maximum.

    nbgrader reads the text of a cell's result as partial credit, so that ``repr`` is the number and nothing else; the
    feedback is the HTML.
    """

    exercise: str
    maximum: float
    verdict: str  # "passed", "wrong", "crashed" or "ungraded"
    findings: tuple[Finding, ...]
    trace: Trace | None
    about: str
    states: tuple[RankState, ...]  # where the ranks stood, if the run that is shown failed
    picture: str  # an SVG of the learner's own run, where the exercise has a better one than the timeline

    def __new__(
        cls,
        exercise: str,
        points: float,
        maximum: float,
        verdict: str,
        findings: Sequence[Finding] = (),
        trace: Trace | None = None,
        about: str = "",
        states: Sequence[RankState] = (),
        picture: str = "",
    ) -> Score:
        finite = points if math.isfinite(points) else 0.0
        score = super().__new__(cls, min(max(0.0, finite), maximum))
        score.exercise, score.maximum, score.verdict = exercise, maximum, verdict
        score.findings, score.trace, score.about = tuple(findings), trace, about
        score.states, score.picture = tuple(states), picture
        return score

    def __reduce__(self) -> tuple[Any, ...]:
        rest = (self.maximum, self.verdict, self.findings, self.trace, self.about, self.states, self.picture)
        return Score, (self.exercise, self.points, *rest)

    @property
    def points(self) -> float:
        return float(self)

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    def __repr__(self) -> str:
        return f"{self.points:g}"

    __str__ = __repr__

    def to_json(self) -> dict[str, Any]:
        """``{points, maximum, verdict, findings: [{message, misconception, points}]}``."""
        found = [{"message": f.message, "misconception": f.misconception, "points": f.points} for f in self.findings]
        return {"points": self.points, "maximum": self.maximum, "verdict": self.verdict, "findings": found}

    def text(self) -> str:
        """The feedback for a terminal."""
        from lockstep.checks.feedback import text

        return text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from lockstep.checks.feedback import page

        return {"text/plain": repr(self), "text/html": page(self)}
