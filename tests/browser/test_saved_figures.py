"""A lesson that was saved: its figures without their kernel, in JupyterLab and as a page without network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from harness import READ, Lab
from kernels import settings
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

SOURCES = (
    "from lockstep import predict, run, show\nimport torch, torch.distributed as dist\nshow.ring(ranks=4)",
    "predict('saved-figures', 'How many ms?', unit='ms')",
    "show.timeline(run(lambda: dist.all_reduce(torch.ones(9)), ranks=2, on='laptop'))",
    "show.sgd_map()",
    "show.survey()",
    "show.amdahl()",
    "print('a rank that waits for the other ranks ' * 12)",
    "from lockstep.show import board\nboard(2, 2, 2)",
)
RING, PREDICTION, TIMELINE = range(3)
PRINTED, BOARD = len(SOURCES) - 2, len(SOURCES) - 1
FIGURES = [cell for cell in range(len(SOURCES)) if cell != PRINTED]
BROKEN = """(pre) => {  // words that stand on two lines
  const text = pre.firstChild, found = [];
  for (const { index, 0: word } of text.data.matchAll(/\\S+/g)) {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    if (range.getClientRects().length > 1) found.push(word);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def executed() -> nbformat.NotebookNode:
    """A notebook as a learner left it yesterday: run, saved, and its kernel is gone."""
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook = new_notebook(cells=[new_code_cell(s) for s in SOURCES], metadata={"kernelspec": kernel})
    NotebookClient(notebook, timeout=120, config=settings()).execute()
    return notebook


@pytest.fixture(scope="module")
def saved(course: Path, executed: nbformat.NotebookNode) -> str:
    nbformat.write(executed, course / "course" / "saved.ipynb")
    return "course/saved.ipynb"


@pytest.mark.slow
def test_a_saved_lesson_shows_its_figures_without_a_kernel(lab: Lab, saved: str) -> None:
    """All were "Error displaying widget: model not found". JupyterLab runs no script of a notebook that it does not
    trust: there each figure is the still picture. Trusted, it moves; only the field waits for its kernel."""
    lab.page.set_viewport_size({"width": 960, "height": 900})
    lab.open(saved)
    for cell in FIGURES:
        still = lab.output(cell).locator("img.ls-still")
        still.wait_for()
        assert still.get_attribute("alt")
        assert still.evaluate("e => e.naturalWidth") == 540
    assert lab.page.evaluate(READ)["fits"]
    lab.screenshot("saved-untrusted")

    lab.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:trust'); }")
    lab.page.locator(".jp-Dialog .jp-mod-accept").click()
    ring = lab.output(RING)
    before = ring.locator("svg").first.inner_html()
    lab.move_slider(ring, steps=2)
    assert ring.locator("svg").first.inner_html() != before
    lab.output(TIMELINE).get_by_role("button", name="zoom in").click()
    assert lab.output(PREDICTION).locator("img.ls-still").count() == 1
    assert lab.page.get_by_text("Error displaying widget").count() == 0
    for width in (960, 1280, 1920):
        lab.page.set_viewport_size({"width": width, "height": 900})
        assert lab.output(PRINTED).locator("pre").evaluate(BROKEN) == [], "JupyterLab broke what was printed anywhere"
        for cell in FIGURES:
            lab.look(cell, f"saved-trusted-{width}-{cell}")
            seen = lab.page.evaluate(READ)
            assert seen["fits"], (width, cell)
            assert seen["smallest"] >= 11, (width, cell)


@pytest.mark.slow
def test_a_field_lives_across_a_reload_of_the_page(lab: Lab, course: Path, saved: str) -> None:
    """What was done then was not kept in the notebook: the page no longer knew the output's id, and what the kernel
    sent was lost. Reopened, a committed prediction was an open question."""
    lab.open(saved)
    lab.run_all()
    field = lab.output(PREDICTION).locator("input")
    field.fill("about three")
    lab.output(PREDICTION).get_by_role("button").click()
    lab.output(PREDICTION).get_by_text("is not a number").wait_for(timeout=20_000)
    lab.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    lab.page.reload()
    lab._wait_for_notebook("saved.ipynb")
    lab.output(PREDICTION).locator("input").wait_for(timeout=20_000)
    lab.commit(PREDICTION, "4")
    assert lab.output(PREDICTION).locator("input").is_disabled()
    board = lab.output(BOARD)
    board.locator("[role=gridcell]").first.click()
    for key in ("f", "Enter", "Tab"):
        lab.page.keyboard.press(key)
    lab.page.wait_for_timeout(4000)
    lab.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    kept = [str(cell.get("outputs")) for cell in nbformat.read(course / saved, as_version=4).cells]
    assert "Your prediction: 4 ms" in kept[PREDICTION]
    assert "stage 0: F0" in kept[BOARD]


def test_an_exported_lesson_needs_no_network(browser: Any, executed: nbformat.NotebookNode, lab: Lab) -> None:
    html, _ = HTMLExporter().from_notebook_node(executed)
    (lab.shots / "exported.html").write_text(html)
    context = browser.new_context(offline=True, viewport={"width": 960, "height": 900})
    page = context.new_page()
    page.goto((lab.shots / "exported.html").as_uri(), wait_until="domcontentloaded")
    page.locator(".ls-figure canvas").wait_for()
    assert page.locator(".ls-figure").count() == len(FIGURES) - 2
    assert page.locator("img.ls-still").count() == 2, "two fields ask a kernel"
    printed = page.locator("pre", has_text="waits for the other ranks")
    assert printed.last.evaluate(BROKEN) == [], "words were broken anywhere"
    ring = page.locator(".ls-figure").first
    ring.get_by_role("button", name="step forward").click()
    assert "step 1 of 6" in ring.inner_text()
    before = ring.locator("svg").first.inner_html()
    ring.locator("input[type=range]").first.press("ArrowRight")
    assert ring.locator("svg").first.inner_html() != before, "its slider moves it, without a kernel"
    assert page.get_by_text("Error displaying widget").count() == 0
    seen = page.evaluate(READ)
    assert seen["fits"]
    assert seen["smallest"] >= 11
    page.screenshot(path=lab.shots / "exported.png", full_page=True)
    page.emulate_media(media="print")
    assert page.get_by_role("button", name="step forward").first.is_hidden()
    assert ring.locator("svg").is_visible()
    page.pdf(path=lab.shots / "exported.pdf")
    context.close()


@pytest.mark.slow
def test_an_answered_quiz_is_there_after_a_reload_and_without_its_kernel(lab: Lab, acting: str, course: Path) -> None:
    """It was saved as a bare question; reopened, it looked as if nobody had answered. The number is answered
    before the page is loaded anew, the choice after it; then another kernel opens the file, and knows of neither."""
    lab.open(acting)
    lab.run_all()
    number, choice, asked = lab.find('"messages"'), lab.find('"which"'), lab.find("predict(")
    lab.output(number).locator("input").fill("5")
    lab.page.keyboard.press("Enter")
    lab.output(number).get_by_role("status").get_by_text("Right. Each rank but the root").wait_for()
    if lab.output(asked).locator("input").is_enabled():  # another test may have committed it: that stands
        lab.commit(asked, "8")
    save(lab)

    lab.page.reload()
    lab._wait_for_notebook(acting)
    lab.output(number).get_by_role("status").get_by_text("Right. Each rank but the root").wait_for(timeout=20_000)
    assert lab.output(number).locator("input").input_value() == "5"
    assert lab.output(asked).locator("input").is_disabled()
    lab.output(choice).get_by_role("button", name="tree").click()
    lab.output(choice).get_by_role("status").get_by_text("Not yet. In the tree").wait_for(timeout=20_000)
    lab.page.wait_for_timeout(1500)
    save(lab)

    kept = {number: "Your answer: 5 Right. Each rank but the root", choice: "● tree Not yet. In the tree"}
    kept[asked] = "Your prediction: 8 times"
    file = nbformat.read(course / acting, as_version=4)
    for cell, words in kept.items():
        assert words in str(file.cells[cell]["outputs"]), "it is in the file as it stands"
    lab.close()
    lab.open(acting)
    for cell, words in kept.items():
        still = lab.output(cell).locator("img.ls-still")
        still.wait_for()
        assert words in (still.get_attribute("alt") or "")
    lab.look(number, "quiz-without-its-kernel")


def save(lab: Lab) -> None:
    lab.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
