"""JupyterLab opens on the course, and widgets work in it: what every lesson stands on."""

from pathlib import Path

import nbformat
import pytest
from harness import Lab
from nbformat.v4 import new_code_cell, new_notebook

FIGURE = '''
import anywidget, traitlets, ipywidgets
class Square(anywidget.AnyWidget):
    _esm = """
    function render({ model, el }) {
      const draw = () => { el.innerHTML = `<svg width="300" height="60"><rect class="bar" fill="#0072b2" height="40"
                                                width="${20 * model.get("n")}"></rect></svg>`; };
      model.on("change:n", draw);
      draw();
    }
    export default { render };
    """
    n = traitlets.Int(3).tag(sync=True)
figure = Square()
slider = ipywidgets.IntSlider(value=3, min=0, max=10)
traitlets.link((slider, "value"), (figure, "n"))
ipywidgets.VBox([slider, figure])
'''


@pytest.fixture(scope="module")
def scratch(course: Path, address: str) -> str:
    """A notebook of this test's own, among the lessons that `lockstep lab` has copied."""
    cells = ["1 + 1", FIGURE, "print(figure.n)", "undefined", "print('after')"]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nb = new_notebook(cells=[new_code_cell(source) for source in cells], metadata={"kernelspec": kernel})
    nbformat.write(nb, course / "course" / "scratch.ipynb")
    return "course/scratch.ipynb"


def test_it_opens_on_the_front_page(lab: Lab) -> None:
    lab.open_front_page()
    assert "/lab/tree/course/index.ipynb" in lab.page.url
    lab.page.locator(".jp-Notebook h1").get_by_text("Lockstep").wait_for(timeout=60_000)
    lab.run_all()
    assert lab.errors() == {}
    lab.output(lab.find("course_map()")).get_by_text("of unit").first.wait_for(timeout=60_000)
    assert not lab.page.get_by_text("official Jupyter news").is_visible()


LABELS = """() => [...document.querySelectorAll('.lm-DockPanel-tabBar .lm-TabBar-tabLabel')]
    .map((e) => [e.textContent, getComputedStyle(e, '::after').content])"""


@pytest.mark.slow
def test_a_lessons_tab_shows_its_unit_and_its_file_stays(lab: Lab, course: Path) -> None:
    """Twelve tabs were called lesson.ipynb. JupyterLab renames a file to whatever is written in its tab's label."""
    lab.open("course/04_communication/lesson.ipynb")
    lab.page.wait_for_function(f"() => ({LABELS})().some(([, shown]) => shown.includes('04'))", timeout=20_000)
    assert ["lesson.ipynb", '"04 Communication"'] in lab.page.evaluate(LABELS)
    lab.page.wait_for_timeout(1000)
    assert (
        lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
        == "course/04_communication/lesson.ipynb"
    )
    lab.open("labs/04_communication/lab.ipynb")
    lab.page.wait_for_timeout(1000)
    assert ["lab.ipynb", "none"] in lab.page.evaluate(LABELS), "a lab's file name is its key in the gradebook"
    assert (course / "course/04_communication/lesson.ipynb").is_file()


def test_a_slider_moves_a_figure(lab: Lab, scratch: str) -> None:
    lab.open(scratch)
    for cell in (0, 1):
        lab.run(cell)
    assert lab.cells()[0]["outputs"][0]["data"]["text/plain"] == "2"
    output = lab.output(1)
    bar = output.locator("rect.bar")
    assert bar.get_attribute("width") == "60"
    assert lab.move_slider(output, steps=4) == 7
    lab.page.wait_for_selector('rect.bar[width="140"]', timeout=20_000)
    lab.run(2)
    assert lab.cells()[2]["outputs"][0]["text"] == "7\n"


@pytest.mark.slow
def test_run_all_stops_at_the_cell_that_fails(lab: Lab, scratch: str) -> None:
    lab.open(scratch)
    lab.run_all()
    assert lab.errors() == {3: "NameError: name 'undefined' is not defined"}
    assert lab.count(4) == 0
    lab.write(3, "1")
    lab.run(3)
    lab.run(4)
    assert lab.errors() == {}
