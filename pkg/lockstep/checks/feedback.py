"""A Score as a learner sees it: a headline, what was found, and the timeline of their own run."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from typing import Protocol

from lockstep import show
from lockstep.checks.exercise import exercises
from lockstep.checks.judge import Finding
from lockstep.checks.score import drawable
from lockstep.errors import RankState
from lockstep.events import Trace
from lockstep.show.waiting import Waiting

HEADLINES = {
    "passed": "Right.",
    "wrong": "Not right yet.",
    "crashed": "It does not run to the end.",
    "ungraded": "This could not be checked, and it costs no points.",
}
COLOURS = {"passed": "#117733", "wrong": "#b35900", "crashed": "#aa3377", "ungraded": "#666677"}
REPORT = "margin:.4em 0 0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;font-size:90%"


class Scored(Protocol):
    """What of a Score is told. Its ``repr`` is the number of points."""

    exercise: str
    maximum: float
    verdict: str
    trace: Trace | None
    about: str
    picture: str

    @property
    def points(self) -> float: ...

    @property
    def findings(self) -> Sequence[Finding]: ...

    @property
    def states(self) -> Sequence[RankState]: ...


def headline(score: Scored) -> str:
    if score.verdict == "ungraded":
        return HEADLINES["ungraded"]
    if score.verdict == "crashed" and score.findings and not score.findings[0].misconception.startswith("crashed:"):
        return f"Not right yet, and it does not always run to the end. {score!r} of {score.maximum:g} points"
    partly = "Partly right." if score.verdict == "wrong" and score.points > 0 else HEADLINES[score.verdict]
    return f"{partly} {score!r} of {score.maximum:g} points"


def text(score: Scored) -> str:
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


def onward(score: Scored) -> str:
    """After a pass, the exercise that comes next in the lab."""
    lab = [e for e in exercises() if e.topic == score.exercise.partition(".")[0]]
    mine = next((e for e in lab if e.id == score.exercise), None)
    if score.verdict != "passed" or mine is None:
        return ""
    after = next((e for e in lab if e.number > mine.number), None)
    if after is None:
        return "That was the last exercise of this lab."
    extra = "" if after.core else ", extra"
    return f"Next comes exercise {after.number}{extra}: {after.title} ({after.minutes} minutes)."


def page(score: Scored) -> str:
    """For a notebook: stands on light and dark backgrounds, needs no script and no network."""
    colour = COLOURS[score.verdict]
    found = "".join(_paragraph(f.message, f.points) for f in score.findings)
    last = html.escape(" ".join(filter(None, (score.about, onward(score)))))
    about = f'<p style="opacity:.7;font-size:90%;margin:.6em 0 0">{last}</p>' if last else ""
    head = f'<p style="margin:0;font-weight:600">{html.escape(headline(score))}</p>'
    return (
        f'<div class="lockstep-score" style="border-left:4px solid {colour};padding:.3em 0 .3em .9em;max-width:62em">'
        f"{head}{found}{_figure(score)}{about}</div>"
    )


def _paragraph(message: str, points: float) -> str:
    """The first line as text, what follows (a report of ranks and lines) as it was laid out."""
    first, _, rest = message.partition("\n")
    cost = f' <span style="opacity:.7">(−{points:g})</span>' if points else ""
    report = f'<pre style="{REPORT}">{html.escape(rest)}</pre>' if rest else ""
    return f'<div style="margin:.5em 0">{html.escape(first)}{cost}{report}</div>'


def _figure(score: Scored) -> str:
    """The exercise's own picture of the learner's run, or its timeline; if that run failed, who waits for whom."""
    if any(s.state == "waiting" for s in score.states):
        return _framed(Waiting.of(score.states).svg())
    if score.picture:
        return _framed(score.picture)
    return _framed(show.timeline(score.trace).svg()) if score.trace and drawable(score.trace) else ""


def _framed(picture: str) -> str:
    return f'<div style="margin:.6em 0;overflow-x:auto">{picture}</div>'
