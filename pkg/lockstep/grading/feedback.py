"""What a learner gets back: one page of HTML with the score, the findings and the figure of their own run for each
exercise, together with their own answer.

Text of theirs is text: all of it is escaped, no cell's output is shown, and the page allows no script and no network.
"""

from __future__ import annotations

import html
from collections.abc import Iterator

from lockstep.checks.wording import printable
from lockstep.grading import submission as submissions
from lockstep.grading.grade_submission import Judged, Result
from lockstep.grading.submission import GRADED, NOT_GRADED, TAMPERED, WRONG_FORMAT, Notebook

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:66em;margin:2em auto;padding:0 1em}"
    "pre{background:#8881;padding:.8em;overflow:auto}summary{cursor:pointer}"
)
TOLD = {
    WRONG_FORMAT: "This could not be read, and was not graded.",
    NOT_GRADED: "Not all of this could be graded, through no fault of yours. It will be tried again.",
    TAMPERED: "Given cells were changed or missing. They were restored, and your answers graded.",
}


def page(result: Result, lab: str) -> str:
    return printable("\n".join(_page(result, lab)))


def _page(result: Result, lab: str) -> Iterator[str]:
    title = f"{_text(lab)}: {_text(result.student)}"
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>"
    if result.status != GRADED:
        yield f"<p><strong>{_text(TOLD.get(result.status, 'An answer did not run to its end.'))}</strong></p>"
    if result.notes:
        yield f"<ul>{''.join(f'<li>{_text(note)}</li>' for note in result.notes)}</ul>"
    if result.exercises and result.final:
        points, maximum = sums(result)
        yield f"<p>{points:g} of {maximum:g} points for the core exercises.</p>"
    for name, judged in result.exercises.items():
        extra = "" if name in core(result) else " (extra: in no grade)"
        yield from _exercise(name, extra, judged, answer_of(result, name))
    yield "</body></html>\n"


def _exercise(name: str, extra: str, judged: Judged, answer: str) -> Iterator[str]:
    yield f"<h2>{_text(name)}{extra}</h2>"
    yield judged.html
    yield f"<details><summary>Your answer</summary><pre>{_text(answer)}</pre></details>"


def answer_of(result: Result, name: str) -> str:
    cells = (result.notebook or {"cells": []})["cells"]
    return next((c["source"] for c in cells if submissions.grade_id(c) == f"answer-{name}"), "")


def core(result: Result) -> list[str]:
    """The core exercises, which make the grade: those whose tests cell has points."""
    return counted(result.notebook or {"cells": []})


def counted(notebook: Notebook) -> list[str]:
    """The same of a lab's notebook."""
    cells = notebook["cells"]
    ids = [submissions.grade_id(c) for c in cells if c["metadata"].get("nbgrader", {}).get("grade")]
    return [id.removeprefix("tests-") for id in ids]


def sums(result: Result) -> tuple[float, float]:
    """Points and maximum of the core exercises."""
    scores = [result.exercises[name].score for name in core(result) if name in result.exercises]
    return sum(s["points"] for s in scores), sum(s["maximum"] for s in scores)


def _text(text: str) -> str:
    return html.escape(printable(text))
