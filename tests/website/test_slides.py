"""Slides are made of lessons: what each unit's ask, answer and say; and one unit's in Chromium, without a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser
from website.slides import Slide, deck, page, predicted

from lockstep.grading.course import UNITS, Unit
from lockstep.lessons.behind import load

pytestmark = pytest.mark.reads("course/", "scripts/", "pkg/lockstep/lessons/")

ROOT = Path(__file__).parents[2]
ASKS = "What do you say?"
MOST = 90  # words of a slide, its answer included
LESSONS = pytest.mark.parametrize("unit", UNITS[:14], ids=lambda unit: unit.folder)
SEEN = """() => {
  const slide = Reveal.getCurrentSlide(), box = (e) => e.getBoundingClientRect();
  return {
    figures: [...slide.querySelectorAll('.figure')].map(box).map((b) => [b.left, b.right, b.bottom, b.width]),
    answer: [...slide.querySelectorAll('.fragment')].map((e) => getComputedStyle(e).visibility),
    last: Reveal.isLastSlide() && !Reveal.availableFragments().next,
  };
}"""


def slides_of(unit: Unit) -> list[list[Slide]]:
    """Of the lesson as it is committed: without outputs, so without figures of cells."""
    folder = ROOT / "course" / unit.folder
    lesson = nbformat.read(folder / "lesson.ipynb", as_version=4)
    return deck(lesson, folder / "lesson.py", load(unit.topic))


@LESSONS
def test_each_section_each_prediction_and_each_question_of_a_lesson_has_its_slide(unit: Unit) -> None:
    stacks = slides_of(unit)
    text = (ROOT / "course" / unit.folder / "lesson.py").read_text(encoding="utf-8")
    headings = re.findall(r"^# ## (.+)$", text, re.MULTILINE)
    assert len(stacks) == 1 + len(headings)
    assert all(len(re.findall("<h2>", slide.text)) == 1 for slide in (stack[0] for stack in stacks[1:]))
    behind = load(unit.topic)
    asked = [slide for stack in stacks for slide in stack if ASKS in slide.text]
    mine = [*behind.predictions.keys(), *behind.quizzes.keys()]
    assert len(asked) == len([name for name in mine if name not in behind.further])
    assert len({slide.text for slide in asked}) == len(asked)


@LESSONS
def test_a_section_begins_with_a_sentence(unit: Unit) -> None:
    """Four sections had a title and nothing else: their first sentence had a formula, or was long."""
    for stack in slides_of(unit)[1:]:
        assert "<p>" in stack[0].text, stack[0].text


@LESSONS
def test_what_is_asked_is_answered_on_the_next_step_and_not_before(unit: Unit) -> None:
    asked = [slide for stack in slides_of(unit) for slide in stack if ASKS in slide.text]
    assert all(re.sub("<[^>]+>", "", slide.answer).strip() for slide in asked)
    for slide in asked:
        before, fragment, _ = slide.html().partition('<div class="fragment">')
        assert fragment
        assert slide.answer not in before


def test_an_answer_is_the_lessons_own() -> None:
    answers = predicted(ROOT / "course/04_communication/lesson.py")
    assert answers["ring-bytes"] == 196.9
    (slide,) = (s for stack in slides_of(UNITS[4]) for s in stack if "64 ranks, 100 MB each" in s.text)
    assert "<b>196.9 MB</b>" in slide.answer


@LESSONS
def test_few_words_stand_on_a_slide_and_no_formula_that_nothing_would_draw(unit: Unit) -> None:
    slides = [slide for stack in slides_of(unit) for slide in stack]
    assert max(slide.words() for slide in slides) <= MOST
    assert not [slide.text for slide in slides if "$" in slide.text + slide.answer]


def test_a_figure_has_the_sentence_before_it_and_a_line_of_the_learners_no_slide() -> None:
    """A verdict on the solution of a turn looked like a figure, and a reconciliation had the sentence of another."""
    unit = UNITS[4]
    folder = ROOT / "course" / unit.folder
    lesson = nbformat.read(folder / "lesson.ipynb", as_version=4)
    asked = escape(load(unit.topic).predictions["ring-bytes"].question)
    told = f"<svg>{asked}</svg>"
    figures = {"result.show()": "<svg>drawn</svg>", "your_turn(": "<svg>Right</svg>", '"ring-bytes",': told}
    for cell in lesson.cells:
        made = next((html for part, html in figures.items() if part in cell.source), "")
        if cell.cell_type == "code" and made:
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": made, "text/plain": "x"})]
    stacks = deck(lesson, folder / "lesson.py", load(unit.topic))
    slides = [slide for stack in stacks for slide in stack if slide.figure]
    assert not any("Right" in slide.figure for slide in slides)
    (reconciled,) = (slide for slide in slides if asked in slide.figure)
    assert reconciled.text == ""
    assert any(slide.figure == "<svg>drawn</svg>" and "A pull is two messages." in slide.text for slide in slides)


def test_the_folded_numbers_of_a_chart_are_no_slide() -> None:
    """Three slides had a line to unfold and nothing else: a chart's numbers, where they are few rows."""
    unit = UNITS[4]
    folder = ROOT / "course" / unit.folder
    lesson = nbformat.read(folder / "lesson.ipynb", as_version=4)
    folded = "\n<details><summary>The numbers</summary><table><tr><td>1</td></tr></table></details>"
    (shown,) = (cell for cell in lesson.cells if "result.show()" in cell.source and cell.cell_type == "code")
    shown.outputs = [
        nbformat.v4.new_output("display_data", {"text/html": html}) for html in ("<svg>chart</svg>", folded)
    ]
    stacks = deck(lesson, folder / "lesson.py", load(unit.topic))
    figures = [slide.figure for stack in stacks[1:] for slide in stack if slide.figure]
    assert figures == ["<svg>chart</svg>"]


def test_a_file_is_whole_and_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "theme").mkdir()
    (tmp_path / "reveal.css").write_text(".reveal{}")
    (tmp_path / "theme/white.css").write_text("@import url(./fonts/source-sans-pro/source-sans-pro.css);\n.x{}")
    (tmp_path / "reveal.js").write_text("/* </script> */")
    made = page("04 <Communication>", slides_of(UNITS[4]), tmp_path)
    assert "@import" not in made
    assert "<title>04 &lt;Communication&gt;</title>" in made
    assert made.count("</script>") == 2, "what the library says of scripts ends none"
    assert not re.search(r"""(src|href)=["']?https?:""", made)


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.xdist_group("browser")
@pytest.mark.timeout(1500)
def test_slides_open_from_a_disk_and_each_figure_is_on_its_slide(tmp_path: Path, browser: Browser) -> None:
    if not shutil.which("npm") and not (ROOT / "build/reveal").is_dir():
        pytest.skip("there is no npm here to get reveal.js: sh scripts/system-packages hub")
    subprocess.run([sys.executable, ROOT / "scripts/slides", "04", "--to", tmp_path], check=True, timeout=1200)
    window = browser.new_page(viewport={"width": 1280, "height": 720})
    told: list[str] = []
    window.on("console", lambda message: told.append(message.text) if message.type in ("error", "warning") else None)
    window.on("pageerror", lambda error: told.append(str(error)))
    here = ("file:", "data:", "blob:")
    window.on("request", lambda asked: None if asked.url.startswith(here) else told.append(asked.url))
    window.goto((tmp_path / "04_communication.html").as_uri())
    window.wait_for_function("() => window.Reveal?.isReady()")
    window.wait_for_timeout(1500)  # the figures draw themselves
    drawn, answers, seen = 0, [], {"last": False}
    while not seen["last"]:
        window.wait_for_timeout(300)
        seen = window.evaluate(SEEN)
        answers += seen["answer"]
        for left, right, bottom, width in seen["figures"]:
            drawn += 1
            assert 0 <= left < right <= 1280, (window.url, left, right)
            assert bottom <= 720, (window.url, bottom)
            assert width > 200, window.url
        window.evaluate("Reveal.next()")
    window.close()
    assert told == []
    assert drawn >= 15
    assert answers == ["hidden", "visible"] * (len(answers) // 2)
    assert len(answers) == 20
