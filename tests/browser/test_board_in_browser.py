"""The board in JupyterLab, with its kernel: drawn by keyboard and by drag, it judges, copies and trains."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from harness import READ, SIZES, Lab
from nbformat.v4 import new_code_cell, new_notebook

SOURCES = ("from lockstep import show\nboard = show.board(3, 2, 1)\nboard", "print(board.text)",
           "show.board(4, 6, 3, 'F0 F1 F2 F3\\nF0\\n.. F0\\n..')")  # fmt: skip
BOARD, TEXT, ODD = range(3)
DRAWN = "F0 .. .. .. .. B0 F1 .. .. .. .. B1\n.. F0 .. .. B0 .. .. F1 .. .. B1 ..\n.. .. F0 B0 .. .. .. .. F1 B1 .. .."


@pytest.fixture(scope="module")
def notebook(course: Path) -> str:
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    cells = [new_code_cell(source) for source in SOURCES]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), course / "course" / "board.ipynb")
    return "course/board.ipynb"


@pytest.mark.slow
def test_a_schedule_is_drawn_judged_copied_and_trained(lab: Lab, notebook: str) -> None:
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.open(notebook)
    lab.run_all()
    assert lab.errors() == {}
    board = lab.output(BOARD)

    def says(text: str) -> None:
        board.get_by_role("status").get_by_text(text).wait_for(timeout=30_000)

    board.locator('[data-at="0,0"]').click()
    for key in ("F", "0", *["ArrowRight"] * 5, "B", "0", "ArrowRight", "F", "Enter", *["ArrowRight"] * 5, "B", "Enter"):
        lab.page.keyboard.press(key)
    says("No rule is broken so far. 4 of 12 passes are placed.")
    board.locator('[data-at="1,0"]').click()
    board.get_by_role("group", name="stage 1 still needs").get_by_role("button", name="F0").drag_to(
        board.locator('[data-at="1,0"]')
    )
    says("Rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 stands in slot 0: F0 has to be later.")
    lab.look(BOARD, "board-illegal")
    board.locator('[data-at="1,0"]').drag_to(board.locator('[data-at="1,1"]'))
    says("5 of 12")
    lab.page.keyboard.press("End")
    lab.page.keyboard.press("Home")
    for row in DRAWN.splitlines()[1:]:
        for cell in row.split():
            for key in () if cell == ".." else cell:
                lab.page.keyboard.press(key)
            lab.page.keyboard.press("ArrowRight")
        lab.page.keyboard.press("Home")
        lab.page.keyboard.press("ArrowDown")
    says("The drawing is legal. It takes 12 slots; none takes fewer.")
    board.get_by_role("button", name="Copy as text").click()
    says("The text is copied.")
    assert lab.page.evaluate("navigator.clipboard.readText()") == DRAWN
    board.get_by_role("button", name="Train with it").click()
    says("The drawing trains a model: on 3 ranks the loss went from")
    assert board.get_by_role("table").locator("td").count() == 8
    lab.look(BOARD, "board-trained")
    lab.run(TEXT)
    assert lab.output(TEXT).inner_text().split() == DRAWN.split()
    for width, height in SIZES:
        lab.page.set_viewport_size({"width": width, "height": height})
        for cell in (BOARD, ODD):
            lab.look(cell, f"board-{cell}-{width}")
            seen = lab.page.evaluate(READ)
            assert seen["fits"], (width, cell)
            assert seen["smallest"] is None or seen["smallest"] >= 11, (width, cell)
    wide = lab.output(ODD).locator(".ls-grid").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert wide[0] <= wide[1], "21 columns at 960 pixels"


@pytest.mark.slow
def test_without_its_kernel_the_board_is_a_picture(lab: Lab, notebook: str) -> None:
    lab.open(notebook)
    lab.run_all()
    lab.output(BOARD).locator('[data-at="0,0"]').click()
    for pause in (3000, 3000):  # it is stored, and the focus stays
        lab.page.keyboard.press("Enter")
        lab.page.wait_for_timeout(pause)
        lab.page.keyboard.press("ArrowRight")
    lab.examine_without_its_kernel(notebook)
    drawn = lab.output(BOARD).locator("img.ls-still").get_attribute("alt") or ""
    assert "stage 0: F0 F1;" in drawn, "as it stands, not as it was when its cell ran"
    still = lab.output(ODD).locator("img.ls-still")
    assert "stage 0: F0 F1 F2 F3" in (still.get_attribute("alt") or "")
    lab.look(ODD, "board-still")
