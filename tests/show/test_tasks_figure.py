"""The figure of tasks that wait for each other, and that of the processors: what is drawn is what was computed."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lockstep.cost.tasks import TRAINING, Task, critical_path, schedule
from lockstep.show import processors, tasks
from lockstep.show.processors import years_to_double
from lockstep.show.tasks import CRITICAL, LANES

SVG = "{http://www.w3.org/2000/svg}"


def blocks(drawing: str, fill: str | None = None) -> list[ElementTree.Element]:
    found = [e for e in ElementTree.fromstring(drawing).iter(f"{SVG}rect") if e.get("rx") == "3"]
    return [e for e in found if fill in (None, e.get("fill"))]


def test_before_the_prediction_the_figure_tells_neither_path_nor_minutes() -> None:
    figure = tasks(TRAINING)
    assert len(blocks(figure.svg())) == len(TRAINING)
    assert blocks(figure.svg(), CRITICAL) == []
    assert "critical" not in figure.svg() + figure.caption()
    assert "15" not in figure.svg().split("</desc>")[0]
    assert not figure.sliders()


@pytest.mark.parametrize("workers", [1, 2, 6, 9])
def test_with_workers_each_task_has_a_block_in_a_lane(workers: int) -> None:
    figure = tasks(TRAINING, workers)
    assert len(blocks(figure.svg())) == 2 * len(TRAINING)
    assert len(blocks(figure.svg(), CRITICAL)) == 2 * len(critical_path(TRAINING))
    (slider,) = figure.sliders()
    assert slider.stops[slider.at] == str(workers)
    assert figure.sheets()[slider.at].frames == [figure.svg()]
    assert all(float(e.get("x", 0)) + float(e.get("width", 0)) <= 540 for e in blocks(figure.svg()))
    starts = sorted(float(e.get("x", 0)) for e in blocks(figure.svg())[len(TRAINING) :])
    assert starts[0] == LANES
    assert len(set(starts)) == len({one.start for one in schedule(TRAINING, workers)})


def test_names_are_read_as_text() -> None:
    assert "&lt;b&gt;" in tasks([Task("<b>", 1)], 1).svg()


def test_the_clock_doubled_every_three_years_until_2004() -> None:
    assert years_to_double() == pytest.approx(2.76, abs=0.01)
    told = processors().caption()
    assert "clock frequency, MHz from 5 to 3,200" in told
    assert "cores from 1 to 20" in told
