"""What a person does in JupyterLab, as Python: open a notebook, run cells, move a slider, look.

Cells are counted from 0, as in the file. JupyterLab draws only the cells near the window, so each is scrolled to first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page

_PANEL = "const panel = window.jupyterapp.shell.currentWidget;"
READ = """() => ({
  fits: document.documentElement.scrollWidth <= document.documentElement.clientWidth
    && [...document.querySelectorAll('.jp-OutputArea-output')].filter((e) => e.querySelector('.ls-place'))
      .every((e) => e.scrollWidth <= e.clientWidth),
  smallest: Math.min(...[...document.querySelectorAll('.ls-figure svg text')].map((e) => {
    const scale = e.getScreenCTM();  // of all svg elements around it; a chart has one in another
    return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(scale.a, scale.b);
  })),
})"""
SIZES = ((1280, 800), (960, 700))


@dataclass
class Lab:
    """One window of the browser."""

    page: Page
    address: str  # of the front page, with the token
    shots: Path

    def open_front_page(self) -> None:
        self.page.goto(self.address)
        self._wait_for_notebook("index.ipynb")

    def open(self, path: str) -> None:
        """A notebook by its path from the course's root, with a kernel that is ready."""
        parts = urlsplit(self.address)
        self.page.goto(f"{parts.scheme}://{parts.netloc}/lab/tree/{path}?{parts.query}&reset")
        self._wait_for_notebook(path)

    def _wait_for_notebook(self, path: str) -> None:
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        ready = f"""() => {{ {_PANEL} return panel && panel.context && panel.context.path.endsWith({path!r})
                    && panel.context.isReady && panel.sessionContext.session?.kernel?.status === 'idle'; }}"""
        self.page.wait_for_function(ready, timeout=60_000, polling=250)

    def close(self) -> None:
        """Shut the kernels down; changes are not saved."""
        if self.page.url.startswith("http"):
            self.page.evaluate("async () => { await window.jupyterapp?.serviceManager.sessions.shutdownAll(); }")

    def run_all(self, timeout: float = 120) -> None:
        """Run > Run All Cells. JupyterLab stops at the first cell that fails.

        On a busy machine the notebook is there before the command is (it does nothing then), and cells begin late.
        """
        self._wait("window.jupyterapp.commands.isEnabled('notebook:run-all-cells')", timeout)
        before = [cell.get("execution_count") for cell in self.cells()]
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        begun = "(c, i) => c.model.executionState === 'running' || (c.model.executionCount ?? null) !== before[i]"
        self._wait(f"(before => panel.content.widgets.some({begun}))({json.dumps(before)})", timeout)
        self.wait_until_idle(timeout)

    def run(self, cell: int, timeout: float = 60) -> None:
        """Shift+Enter in one cell."""
        before = self.count(cell)
        self._select(cell)
        self.page.keyboard.press("Shift+Enter")
        self._wait(f"panel.content.widgets[{cell}].model.executionCount > {before}", timeout)
        self.wait_until_idle(timeout)

    def write(self, cell: int, source: str) -> None:
        """Replace the text of a cell."""
        script = f"source => {{ {_PANEL} panel.content.widgets[{cell}].model.sharedModel.setSource(source); }}"
        self.page.evaluate(script, source)

    def said_to(self, name: str, source: str) -> str:
        """Write this line for a lesson's your-turn, run it, and read what is said to it."""
        turn = self.find(f"def {name}(")
        self.write(turn, f"{source}\n\n\nyour_turn({name})")
        self.run(turn)
        self.page.wait_for_timeout(1500)
        self.wait_until_idle(120)
        return self.output(turn).get_by_role("status").inner_text()

    def answer(self, id: str, source: str) -> str:
        """Write this into the cell of a lab's exercise, run it and its check: what a learner reads below."""
        function = id.partition(".")[2]
        mine, check = self.find(f"def {function}"), self.find(f'check("{id}"')
        self.write(mine, source)
        self.run(mine)
        self.run(check, timeout=90)
        assert self.errors() == {}
        return self.look(check, f"lab-{function}").inner_text()

    def wait_until_idle(self, timeout: float = 60) -> None:
        self._wait("panel.content.widgets.every(c => (c.model.executionState ?? 'idle') === 'idle')", timeout)
        self._wait("panel.sessionContext.session.kernel.status === 'idle'", timeout)

    def _wait(self, condition: str, timeout: float) -> None:
        """Asked four times a second, not for each frame."""
        asked = f"() => {{ {_PANEL} return {condition}; }}"
        self.page.wait_for_function(asked, timeout=timeout * 1000, polling=250)

    def _select(self, cell: int) -> None:
        script = f"""async () => {{ {_PANEL} const nb = panel.content;
                     nb.activeCellIndex = {cell}; nb.mode = 'command'; await nb.scrollToItem({cell}, 'smart');
                     nb.activate(); }}"""
        self.page.evaluate(script)

    def cells(self) -> list[dict[str, Any]]:
        """The notebook as it stands now, cell by cell, as nbformat has it."""
        cells: list[dict[str, Any]] = self.page.evaluate(
            f"() => {{ {_PANEL} return panel.content.model.toJSON().cells; }}"
        )
        return cells

    def find(self, text: str) -> int:
        """The first cell whose source contains ``text``."""
        sources = ["".join(c["source"]) for c in self.cells()]
        return next(i for i, source in enumerate(sources) if text in source)

    def count(self, cell: int) -> int:
        return self.cells()[cell].get("execution_count") or 0

    def errors(self) -> dict[int, str]:
        """What went wrong, by cell."""
        failed = {i: o for i, c in enumerate(self.cells()) for o in c.get("outputs", []) if o["output_type"] == "error"}
        return {i: f"{o['ename']}: {o['evalue']}" for i, o in failed.items()}

    def output(self, cell: int) -> Locator:
        """What stands below a cell, scrolled into view."""
        self.page.evaluate(f"async () => {{ {_PANEL} await panel.content.scrollToItem({cell}, 'start'); }}")
        here = ".jp-NotebookPanel:not(.lm-mod-hidden)"  # JupyterLab may have opened what was open before, too
        found = self.page.locator(f'{here} .jp-Cell[data-windowed-list-index="{cell}"] .jp-OutputArea').first
        found.wait_for(state="visible", timeout=20_000)
        return found

    def commit(self, cell: int, text: str) -> None:
        """Write a prediction into the field below a cell, and commit it."""
        output = self.output(cell)
        output.locator("input").fill(text)
        output.get_by_role("button").click()
        self.page.wait_for_timeout(500)

    def look(self, cell: int, name: str) -> Locator:
        """Scroll to what stands below a cell, let it settle, and take a screenshot."""
        output = self.output(cell)
        self.page.wait_for_timeout(700)
        self.screenshot(name)
        return output

    def drawn(self) -> list[int]:
        """The cells with a figure below them."""
        kinds = {i: [k for o in c.get("outputs", []) for k in o.get("data", {})] for i, c in enumerate(self.cells())}
        return [i for i, found in kinds.items() if any("image" in kind for kind in found)]

    def examine_figures(self, name: str) -> None:
        """Every figure in a wide window and in a narrow one: nothing scrolls sideways, and all of it can be read."""
        for width, height in SIZES:
            self.page.set_viewport_size({"width": width, "height": height})
            for cell in self.drawn():
                self.output(cell)
                self.page.wait_for_timeout(250)
                self.screenshot(f"{name}-{cell:02d}-{width}")
                seen = self.page.evaluate(READ)
                assert seen["fits"], (name, cell, width)
                assert seen["smallest"] is None or seen["smallest"] >= 11, (name, cell, width, seen)

    def examine_without_its_kernel(self, path: str) -> None:
        """The notebook, saved and opened again: another kernel knows nothing of its figures, and all stand there."""
        drawn = self.drawn()
        self.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
        self.close()
        self.open(path)
        for cell in drawn:
            self.output(cell).locator("img, svg, canvas").first.wait_for()
        assert self.page.get_by_text("Error displaying widget").count() == 0

    def screenshot(self, name: str) -> Path:
        path = self.shots / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def move_slider(self, inside: Locator, steps: int = 1) -> int:
        """Move the first slider in ``inside`` by the arrow keys; where it stands then."""
        handle = inside.locator('[role="slider"], input[type="range"]').first
        handle.focus()
        for _ in range(abs(steps)):
            handle.press("ArrowRight" if steps > 0 else "ArrowLeft")
        value = handle.get_attribute("aria-valuenow")
        return round(float(value if value is not None else handle.input_value()))


def examine_offline(browser: Browser, notebook: Path) -> None:
    """The saved notebook as HTML, opened without a network: no figure is missing, and all can be read."""
    import nbformat  # here: whoever looks for another test would wait for both
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter().from_notebook_node(nbformat.read(notebook, as_version=4))
    exported = notebook.with_suffix(".html")
    exported.write_text(html, encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 960, "height": 700})
    page = context.new_page()
    page.goto(exported.as_uri(), wait_until="domcontentloaded")
    places = page.locator(".ls-place")
    assert places.count() > 0
    for n in range(places.count()):
        places.nth(n).locator("img.ls-still, svg, canvas").first.wait_for()
    assert page.get_by_text("Error displaying widget").count() == 0
    seen = page.evaluate(READ)
    assert seen["fits"], notebook
    assert seen["smallest"] >= 11, notebook
    context.close()
