"""Units 00 to 03 as a learner meets them: predict, run the lesson, move its figure, get a lab wrong, then right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser


@dataclass(frozen=True)
class Unit:
    """``prediction``: how its first question is recognised. ``figure``: the cell of its signature figure, and whether
    a slider moves it. ``exercise``, ``wrong``, ``told``: an answer that is not right, and a word of what it is told."""

    folder: str
    prediction: str
    figure: str
    steps: int  # of its first slider, to where something else is seen; 0 if it has none
    exercise: str
    wrong: str
    told: str


UNITS = (
    Unit("00_why_parallel", "why-parallel-tasks", "show.tasks(tasks.TRAINING, workers", -3, "why_parallel.amdahl",
         "def amdahl(p, s):\n    return 1 / (p + (1 - p) / s)\n", "serial"),
    Unit("01_scikit_learn", "scikit-learn-claims", "show.audit(", 0, "scikit_learn.parallel_grid_search",
         "def parallel_grid_search(estimator, grid, cv, n_jobs):\n    return 1\n", "parallel_grid_search"),
    Unit("02_cpu", "cpu-ladder", "show.roofline(", 0, "cpu.roofline",
         "def roofline(flops, nbytes, device):\n    peak, rate = device.peak('float32'), device.memory_bandwidth\n    "
         "slope = flops / max(1, nbytes) * rate\n    return max(slope, peak), "
         "'memory' if slope < peak else 'compute'\n",
         "lower one"),
    Unit("03_gpu", "gpu-mandelbrot-lanes", "show.warp(result", 3, "gpu.vector_add",
         "@cuda.jit\ndef vector_add(a, b, out):\n    i = cuda.grid(1)\n    out[i] = a[i] + b[i]\n",
         "Before a thread touches"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("unit", [u for u in UNITS if u.folder != "02_cpu"], ids=lambda u: u.folder)
def test_the_lesson_runs_and_its_figure_moves(lab: Lab, unit: Unit, course: Path, browser: Browser) -> None:
    lesson = f"course/{unit.folder}/lesson.ipynb"
    lab.open(lesson)
    first = lab.find(f'"{unit.prediction}"')
    lab.run(lab.find("lessons.begin("))
    lab.run(first)
    lab.commit(first, "50")
    assert lab.output(first).locator("input").is_disabled()
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    figure = lab.output(lab.find(unit.figure))
    picture = figure.locator("svg").first
    before = picture.inner_html()
    if unit.steps:
        lab.move_slider(figure, unit.steps)
        lab.page.wait_for_timeout(500)
        assert figure.locator("svg").first.inner_html() != before
    lab.examine_figures(unit.folder)
    lab.examine_without_its_kernel(lesson)
    examine_offline(browser, course / lesson)


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=lambda u: u.folder)
def test_a_wrong_answer_in_the_lab_is_told_why(lab: Lab, unit: Unit) -> None:
    lab.open(f"labs/{unit.folder}/lab.ipynb")
    lab.run(lab.find("from lockstep import check"))
    function = unit.exercise.partition(".")[2]
    answer, check = lab.find(f"def {function}"), lab.find(f'check("{unit.exercise}"')
    lab.write(answer, unit.wrong)
    lab.run(answer)
    lab.run(check, timeout=90)
    assert lab.errors() == {}
    assert unit.told in lab.look(check, f"{unit.folder}-wrong").inner_text()
