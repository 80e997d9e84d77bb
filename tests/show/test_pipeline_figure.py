"""The picture of a schedule is what its streams say, for every stop of its sliders."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from lockstep.errors import UsageError
from lockstep.pipeline.schedules import NAMES as KNOWN
from lockstep.show import pipeline
from lockstep.show.pipeline_model import NAMES, Schedule


def test_every_schedule_has_a_name() -> None:
    assert set(NAMES) == set(KNOWN)


@pytest.mark.parametrize("name", NAMES)
def test_a_bar_for_each_pass(name: str) -> None:
    figure = pipeline(name, stages=3, micro_batches=6)
    drawing = ElementTree.fromstring(figure.svg())
    bars = [t.text for t in drawing.iter("{http://www.w3.org/2000/svg}title") if (t.text or "").startswith("stage ")]
    assert len(bars) == len(figure.model.bars)
    assert f"stage 2: Forward of micro-batch 5, {max_start(figure.model):g}" in " ".join(bars) or name == "interleaved"
    assert figure.model.words() in drawing.findtext("{http://www.w3.org/2000/svg}desc", "")


def max_start(model: Schedule) -> float:
    return next(b.start for b in model.bars if repr(b.step) == "Forward(5)" and b.stage == 2)


def test_what_is_said() -> None:
    assert pipeline("gpipe", 4, 8).caption() == (
        "Pipeline schedule. GPipe: 4 stages, 8 micro-batches. 33 units of time, 27% of them idle. "
        "Stage 0 keeps the activations of 8 micro-batches."
    )
    assert "4 micro-batches, and 4 versions of its weights" in pipeline("pipedream", 4, 8).caption()
    assert "of 11 chunks of micro-batches" in pipeline("interleaved", 4, 8).caption()


def test_bars_do_not_overlap_and_stay_in_the_picture() -> None:
    for name in NAMES:
        found = re.findall(
            r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="22" data-value', pipeline(name).svg()
        )
        lanes: dict[str, list[tuple[float, float]]] = {}
        for x, y, width in found:
            lanes.setdefault(y, []).append((float(x), float(x) + float(width)))
        assert len(lanes) == 4
        for bars in lanes.values():
            bars.sort()
            assert all(a[1] <= b[0] + 0.02 for a, b in pairwise(bars))
            assert bars[-1][1] <= 540 - 70


def test_while_a_slider_moves_the_axis_stays() -> None:
    """1F1B with 8 micro-batches ended at 33, GPipe with 4 at 21, and both filled the whole width."""
    figure = pipeline("one_f_one_b", stages=4, micro_batches=8, among=("gpipe", "one_f_one_b"))
    found = {}
    for sheet in figure.sheets():
        bars = [e for e in ElementTree.fromstring(sheet.frames[0]).iter() if "data-value" in e.attrib]
        last = max(float(e.attrib["x"]) + float(e.attrib["width"]) for e in bars)
        found[re.findall(r"([\d.]+) units", sheet.captions[-1])[0]] = last - min(float(e.attrib["x"]) for e in bars)
    scales = [length / float(units) for units, length in found.items()]
    assert len(scales) == 3
    assert max(scales) < 1.01 * min(scales)


def test_every_stop_of_the_sliders_is_drawn_ahead() -> None:
    figure = pipeline("zb_h1", stages=4, micro_batches=12)
    names, counts = figure.sliders()
    assert names.stops[names.at] == "ZB-H1"
    assert counts.stops == ["4", "8", "12"]
    sheets = figure.sheets()
    assert len(sheets) == len(names.stops) * len(counts.stops)
    assert sheets[names.at * len(counts.stops) + counts.at].frames == list(figure.frames)


def test_interleaving_is_left_out_where_it_cannot_be() -> None:
    assert "interleaved 1F1B" not in pipeline(stages=4, micro_batches=6).sliders()[0].stops
    with pytest.raises(UsageError, match="no multiple of 4"):
        pipeline("interleaved", 4, 6)


@pytest.mark.parametrize("wrong", [{"schedule": "fastest"}, {"stages": 0}, {"stages": 17}, {"micro_batches": 65}])
def test_what_cannot_be_drawn_is_told(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        pipeline(**wrong)  # type: ignore[arg-type]
