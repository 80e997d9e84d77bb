"""The Score: what ``check`` returns. A number for nbgrader, JSON for a program; and for a learner a headline, what was
found, and a figure of their own run."""

from __future__ import annotations

import contextlib
import html
import math
import textwrap
from collections.abc import Sequence
from copy import copy
from typing import Any

from lockstep import show
from lockstep.checks.judge import Finding
from lockstep.checks.listing import Listed, listed
from lockstep.errors import RankState, UsageError
from lockstep.events import Trace
from lockstep.show.figure import Drawn, Picture
from lockstep.show.waiting import Waiting

HEADLINES = {
    "passed": "Right.",
    "wrong": "Not right yet.",
    "crashed": "It does not run to the end.",
    "ungraded": "This could not be checked, and it costs no points.",
}
COLOURS = {"passed": "#117733", "wrong": "#b35900", "crashed": "#aa3377", "ungraded": "#666677"}
REPORT = "margin:.4em 0 0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;font-size:90%"
MOST_EVENTS = 2000  # a longer timeline would weigh more than the whole notebook


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
    case: str  # of the run that is shown: "4 ranks, 7 elements"

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
        case: str = "",
    ) -> Score:
        finite = points if math.isfinite(points) else 0.0
        score = super().__new__(cls, min(max(0.0, finite), maximum))
        score.exercise, score.maximum, score.verdict = exercise, maximum, verdict
        score.findings, score.trace, score.about = tuple(findings), trace, about
        score.states, score.picture, score.case = tuple(states), picture, case
        return score

    def __reduce__(self) -> tuple[Any, ...]:
        told = (self.verdict, self.findings, self.trace, self.about, self.states, self.picture, self.case)
        return Score, (self.exercise, self.points, self.maximum, *told)

    def with_findings(self, more: Sequence[Finding], instead: bool = False) -> Score:
        """The same with something to add, or to say ``instead``, which changes no points."""
        score = copy(self)
        score.findings = tuple(more) if instead else (*self.findings, *more)
        return score

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
        return text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": page(self)}


def headline(score: Score) -> str:
    if score.verdict == "ungraded":
        return HEADLINES["ungraded"]
    if score.verdict == "crashed" and score.findings and not score.findings[0].misconception.startswith("crashed:"):
        return f"Not right yet, and it does not always run to the end. {score!r} of {score.maximum:g} points"
    partly = "Partly right." if score.verdict == "wrong" and score.points > 0 else HEADLINES[score.verdict]
    return f"{partly} {score!r} of {score.maximum:g} points"


def text(score: Score) -> str:
    """For a terminal, 100 columns wide at most."""
    lines = [f"{score.exercise}: {headline(score)}"]
    for finding in score.findings:
        cost = f"(-{finding.points:g}) " if finding.points else ""
        paragraphs = f"{cost}{finding.message}".splitlines()
        for number, paragraph in enumerate(paragraphs):
            begin = "  - " if number == 0 else "    "
            keep = len(paragraph) - len(paragraph.lstrip())
            lines.append(
                textwrap.fill(paragraph.strip(), 100, initial_indent=begin + " " * keep, subsequent_indent="    ")
            )
    return "\n".join(lines)


def onward(score: Score) -> str:
    """After a pass, the exercise that comes next in the lab."""
    with contextlib.suppress(UsageError):  # of another plain exercise, which its author has still to mend
        return _onward(score, [e for e in listed() if e.topic == score.exercise.partition(".")[0]])
    return ""


def _onward(score: Score, lab: Sequence[Listed]) -> str:
    mine = next((e for e in lab if e.id == score.exercise), None)
    if score.verdict != "passed" or mine is None:
        return ""
    after = next((e for e in lab if e.number > mine.number), None)
    if after is None:
        return "That was the last exercise of this lab."
    extra = "" if after.core else ", extra"
    return f"Next comes exercise {after.number}{extra}: {after.title} ({after.minutes} minutes)."


def page(score: Score) -> str:
    """For a notebook: readable on light and dark backgrounds, without a network; its figure moves if scripts run."""
    colour = COLOURS[score.verdict]
    found = "".join(_paragraph(f.message, f.points) for f in score.findings)
    figure = _figure(score)
    shows = f"The figure shows your run with {score.case}." if figure and score.case else ""
    below = html.escape(" ".join(filter(None, (score.about, shows, onward(score)))))
    about = f'<p style="opacity:.7;font-size:90%;margin:.6em 0 0">{below}</p>' if below else ""
    head = f'<p style="margin:0;font-weight:600">{html.escape(headline(score))}</p>'
    return (
        f'<div class="lockstep-score" style="border-left:4px solid {colour};padding:.3em 0 .3em .9em;max-width:62em">'
        f"{head}{found}{figure}{about}</div>"
    )


def _paragraph(message: str, points: float) -> str:
    """The first line as text, what follows (a report of ranks and lines) as it was laid out."""
    first, _, rest = message.partition("\n")
    cost = f' <span style="opacity:.7">(−{points:g})</span>' if points else ""
    report = f'<pre style="{REPORT}">{html.escape(rest)}</pre>' if rest else ""
    return f'<div style="margin:.5em 0">{html.escape(first)}{cost}{report}</div>'


def _figure(score: Score) -> str:
    """The exercise's own picture of the learner's run, or its timeline; if that run failed, who waits for whom."""
    if any(s.state == "waiting" for s in score.states):
        return _framed(Picture.of(Waiting.of(score.states).svg()))
    if score.picture:
        return _framed(Picture.of(score.picture))
    trace = score.trace
    if trace is None or not trace.communication or trace.time == 0 or len(trace) > MOST_EVENTS:
        return ""
    return _framed(show.timeline(trace))


def _framed(figure: Drawn) -> str:
    return f'<div style="margin:.6em 0">{figure.html()}</div>'
