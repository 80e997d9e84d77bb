"""Slides of a unit, from its executed lesson: sections, predictions, questions and figures, and few words.

Nothing is written for the slides alone, so they cannot differ from the lesson. A slide that asks has its answer on the
next step. One file a unit, with reveal.js and the figures in it: it opens from a disk, and calls no network.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import mistune

from lockstep.grading.text_notebook import read
from lockstep.lessons.after import MARK
from lockstep.lessons.behind import Behind
from lockstep.lessons.session import REASON
from website.lessons import call_of

ROWS = 9  # of a table that is shown
SHORT, MOST = 30, 40  # words of a sentence beside a figure, and of a section's or of a reason
_HEADING = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_TOLD = re.compile(r'lessons\.told\("(.+)"\)')
_LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z*`0-9“])")
_FONTS = re.compile(r"@import[^;]+;")
STYLE = """
.reveal { font-size: 30px; } .reveal h1 { font-size: 2em; } .reveal h2 { font-size: 1.4em; }
.reveal h1, .reveal h2 { text-transform: none; }
.reveal .figure { font-size: 16px; text-align: left; width: fit-content; margin: 0 auto; }
.reveal .figure table { font-size: 16px; } .reveal .ask { font-size: 1.2em; }
.reveal .figure:has(table):not(:has(svg, .ls-place)) { max-width: 900px; min-width: min-content; }
.reveal .figure:has(table):not(:has(svg, .ls-place)) td { white-space: normal; }
.reveal .slide-number { left: 8px; right: auto; }
.reveal .small { color: #555; font-size: .75em; } .reveal ul { display: block; text-align: left; }
"""
FIT = """
Reveal.initialize({ width: 1280, height: 720, margin: 0.04, hash: true, viewDistance: 1000, transition: 'none',
  slideNumber: 'c/t', center: false, controlsTutorial: false }).then(() => {
  const fit = () => Reveal.getCurrentSlide().querySelectorAll('.figure').forEach((figure) => {
    figure.style.zoom = 1;
    const room = [1240 / figure.offsetWidth, (640 - figure.offsetTop) / figure.offsetHeight];
    figure.style.zoom = Math.min(Math.max(Math.min(...room), 0.4), 2);
  });
  setTimeout(fit, 500);
  Reveal.on('slidechanged', fit);
});
"""


@dataclass(frozen=True)
class Slide:
    """One slide: HTML of what is said, of what comes on the next step, and of a figure."""

    text: str
    answer: str = ""
    figure: str = ""

    def html(self) -> str:
        answer = f'<div class="fragment">{self.answer}</div>' if self.answer else ""
        figure = f'<div class="figure">{self.figure}</div>' if self.figure else ""
        return f"<section>{self.text}{answer}{figure}</section>"

    def words(self) -> int:
        return len(re.sub(r"<[^>]+>", " ", f"{self.text} {self.answer}").split())


def deck(executed: Any, lesson: Path, behind: Behind) -> list[list[Slide]]:
    """The slides of an executed lesson, a stack for its beginning and one for each section. ``lesson``: its source,
    which has the answers to its predictions, with its opening picture beside it."""
    answers = predicted(lesson)
    stacks = [[_first(executed.cells[0].source, lesson.parent)]]
    before = ""
    for cell in executed.cells[1:]:
        source = cell.source.partition("\n")[2] if cell.source.startswith(MARK) else cell.source
        if cell.cell_type == "code" and (found := _TOLD.fullmatch(source)):
            before = behind.told[found[1]] if not found[1].partition("-")[0].endswith(REASON) else ""
        elif cell.cell_type == "code":
            made = list(_of_code(cell, source, before, behind, answers))
            stacks[-1] += made
            before = "" if any(slide.figure for slide in made) else before
        else:
            before = cell.source
            if heading := _HEADING.search(before):
                stacks.append([_section(heading["title"], before[heading.end() :])])
    return stacks


def predicted(lesson: Path) -> Mapping[str, float]:
    """The answers that a lesson's source gives to its own predictions, by name."""
    found = {}
    for cell in read(lesson):
        if "predict(" in cell.source and cell.type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                match node:
                    case ast.Call(ast.Name("predict"), [ast.Constant(str(name)), *_], keywords):
                        given = [k.value for k in keywords if k.arg == "answer"]
                        found.update((name, ast.literal_eval(value)) for value in given)
    return found


def page(title: str, stacks: list[list[Slide]], reveal: Path) -> str:
    """The whole file; ``reveal``: the folder ``dist`` of reveal.js."""
    style = (reveal / "reveal.css").read_text() + _FONTS.sub("", (reveal / "theme/white.css").read_text())
    slides = "\n".join(f"<section>{''.join(slide.html() for slide in stack)}</section>" for stack in stacks)
    script = (reveal / "reveal.js").read_text().replace("</script", "<\\/script")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{style}{STYLE}</style></head><body>\n"
        f'<div class="reveal"><div class="slides">\n{slides}\n</div></div>\n'
        f"<script>{script}</script><script>{FIT}</script></body></html>\n"
    )


def _first(source: str, folder: Path) -> Slide:
    title = source.partition("\n")[0].removeprefix("# ")
    question = next((line for line in source.splitlines() if line.startswith("**")), "")
    return Slide(f"<h1>{escape(title)}</h1>{_html(question)}", figure=(folder / "opening.svg").read_text())


def _section(title: str, rest: str) -> Slide:
    """Its title, and its first sentence; the wrap-up's list whole."""
    name, _, when = title.partition(" · ")
    listed = [line for line in rest.splitlines() if line.startswith("- ")] if name == "Wrap-up" else []
    said = "\n".join([_sentence(rest, first=True), "", *listed])
    small = f'<p class="small">{escape(when)}</p>' if when else ""
    return Slide(f"<h2>{_inline(name.replace('. ', '&#46; ', 1))}</h2>{small}{_html(said)}")


def _of_code(cell: Any, source: str, before: str, behind: Behind, answers: Mapping[str, float]) -> Iterator[Slide]:
    match call_of(source):
        case "predict", name:
            asked = behind.predictions[name]
            told = next((text for key, text in behind.told.items() if key.startswith(name + REASON)), "")
            number = f"<p><b>{answers[name]:g} {escape(asked.unit)}</b></p>" if name in answers else ""
            unit = f" *In {asked.unit}.*" if asked.unit not in ("", "times") else ""
            yield _asks(asked.question + unit, number + _html(_reason(told)))
        case "quiz", name:
            quiz = behind.quizzes[name]
            choices = "".join(f"<li>{_inline(choice)}</li>" for choice in quiz.choices)
            answer = f"{quiz.answer:g} {quiz.unit}" if isinstance(quiz.answer, (int, float)) else quiz.answer
            right = f"<p><b>{_inline(answer.strip())}</b></p>{_html(_reason(quiz.because))}"
            yield _asks(quiz.question, right, f"<ul>{choices}</ul>" if choices else "")
        case "your_turn", _:
            return
        case _:
            asked_for = [escape(one.question) for one in behind.predictions.values()]
            for figure in map(_figure, cell.get("outputs", [])):
                if figure:
                    says_itself = any(question in figure for question in asked_for)  # a reconciliation
                    yield Slide("" if says_itself else _html(_sentence(before, first=False)), figure=figure)


def _asks(question: str, answer: str, more: str = "") -> Slide:
    return Slide(f'<p class="small">What do you say?</p><p class="ask">{_inline(question)}</p>{more}', answer)


def _figure(output: Any) -> str:
    data = output.get("data", {})
    made = data.get("text/html", "")
    if made.lstrip().startswith("<details"):  # the numbers of a chart, which has a slide of its own
        return ""
    if "<svg" in made or "ls-place" in made or 0 < made.count("<tr") <= ROWS:
        return str(made)
    if "image/svg+xml" in data:
        return str(data["image/svg+xml"])
    if "image/png" in data:
        return (
            f'<img alt="{escape(data.get("text/plain", ""))}" src="data:image/png;base64,{data["image/png"].strip()}">'
        )
    return ""


def _reason(text: str) -> str:
    """Its first sentence, and those after it for which there is room."""
    sentences = [
        one for one in _SENTENCE.split(" ".join(text.replace("**Our reason.**", "").split())) if "$" not in one
    ]
    room = [len(" ".join(sentences[: i + 1]).split()) <= MOST for i in range(len(sentences))]
    return " ".join(sentences[: max(1, sum(room))])


def _sentence(text: str, first: bool) -> str:
    """The first sentence of the first paragraph that is short and has no formula; or the last sentence of the last
    paragraph, if it is such a one."""
    parts = [p for p in re.split(r"\n\s*\n", text.strip()) if p and p.lstrip()[0] not in "#|-!<>" and "```" not in p]
    if not parts:
        return ""
    sentences = _SENTENCE.split(" ".join(parts[0 if first else -1].split()))
    tried, most = (sentences, MOST) if first else (sentences[-1:], SHORT)
    return next((said for said in tried if len(said.split()) <= most and "$" not in said), "")


def _html(text: str) -> str:
    return str(mistune.html(_LINK.sub(r"\1", text))) if text else ""


def _inline(text: str) -> str:
    return _html(text).strip().removeprefix("<p>").removesuffix("</p>")
