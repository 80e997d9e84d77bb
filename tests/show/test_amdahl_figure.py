"""The curves are the laws, the points are the measurements, and no setting breaks the figure."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from lockstep.cost.speedup import amdahl as law
from lockstep.errors import UsageError
from lockstep.show import amdahl, palette
from lockstep.show.amdahl import MOST, Axes, Speedups, speedups_of

SVG = "{http://www.w3.org/2000/svg}"


def parts(figure: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(figure).iter(f"{SVG}{tag}"))


def titled(figure: str, tag: str, told: str) -> list[ElementTree.Element]:
    return [e for e in parts(figure, tag) if told in (e.findtext(f"{SVG}title") or "")]


def test_the_curve_is_amdahl_s_law() -> None:
    axes = Axes(Speedups(0.9, 8))
    [curve] = titled(amdahl(0.9, 8).svg(), "polyline", "Amdahl")
    drawn = [tuple(map(float, pair.split(","))) for pair in curve.get("points", "").split()]
    wanted = [(axes.x(s), axes.y(law(0.9, s))) for s in axes.speedups.axis]
    assert drawn == [pytest.approx(pair, abs=0.06) for pair in wanted]


def test_measured_points_are_speedups_at_their_place() -> None:
    figure = amdahl(0.9, 8, {1: 2.0, 4: 0.5}).svg()
    axes = Axes(Speedups(0.9, 8, ((1.0, 1.0), (4.0, 4.0))))
    one, four = titled(figure, "circle", "measured")
    assert float(one.get("cx", 0)) == pytest.approx(axes.x(1))
    assert float(four.get("cx", 0)) == pytest.approx(axes.x(4))
    assert float(four.get("cy", 0)) == pytest.approx(axes.y(4), abs=0.01)


def test_the_lanes_have_the_lengths_of_the_law() -> None:
    figure = amdahl(0.8, 4).svg()
    serial = [float(e.get("width", 0)) for e in titled(figure, "rect", "serial")]
    parallel = [float(e.get("width", 0)) for e in titled(figure, "rect", "parallel")]
    whole = serial[0] + parallel[0]
    assert serial == [pytest.approx(0.2 * whole)] * 3  # one worker, Amdahl, Gustafson
    assert parallel[1:5] == [pytest.approx(0.8 / 4 * whole)] * 4  # Amdahl: a quarter each
    assert parallel[5:] == [pytest.approx(0.8 * whole)] * 4  # Gustafson: as much as the one did


def test_it_says_itself_in_words() -> None:
    told = amdahl(0.95, 100).caption()
    assert "95 %" in told
    assert "16.8 times as fast by 100 workers" in told
    assert "95 times as much" in told
    assert "At most 20 times" in told
    assert "sets no limit" in amdahl(1.0, 4).caption()
    assert "Speedups, measured: 1 with 1, 1.6 with 2" in amdahl(times={1: 8, 2: 5}).caption()


def test_waiting_is_what_speedup_leaves() -> None:
    assert Speedups(0.5, 2).idle == pytest.approx(1 - 1 / 1.5)  # 1.5 units of 2 workers, for one unit of work
    assert Speedups(1.0, 64).idle == pytest.approx(0)


def test_times_become_speedups() -> None:
    assert speedups_of({4: 0.5, 1: 2.0}) == ((1.0, 1.0), (4.0, 4.0))
    assert speedups_of({}) == ()
    with pytest.raises(UsageError, match="no time for 1"):
        speedups_of({2: 1.0})


@pytest.mark.parametrize(
    "bad",
    [{"p": 1.5}, {"p": -0.1}, {"p": math.nan}, {"workers": 0}, {"workers": MOST + 1}, {"times": {1: 0.0}},
     {"times": {1: 1.0, 8192: 1.0}}],
    ids=str,
)  # fmt: skip
def test_values_without_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        amdahl(**bad)  # type: ignore[arg-type]


def test_every_stop_of_the_sliders_is_drawn_ahead_with_the_points() -> None:
    figure = amdahl(0.9, 8, {1: 2.0, 2: 1.2})
    shares, workers = figure.sliders()
    sheets = figure.sheets()
    assert len(sheets) == len(shares.stops) * len(workers.stops)
    assert sheets[shares.at * len(workers.stops) + workers.at].frames[0] == figure.svg()
    other = sheets[shares.stops.index("0.99") * len(workers.stops) + workers.stops.index("1,024")]
    assert "p = 0.99" in other.frames[0]
    assert "1,024 workers" in other.captions[0]
    assert len(titled(other.frames[0], "circle", "measured")) == 2


def test_sliders_have_a_stop_for_what_was_asked() -> None:
    shares, workers = amdahl(0.937, 77).sliders()
    assert (shares.stops[shares.at], workers.stops[workers.at]) == ("0.937", "77")


@pytest.mark.parametrize("p", [0.0, 0.5, 0.9999, 1.0])
@pytest.mark.parametrize("workers", [1, 3, 1000, MOST])
def test_any_setting_stays_within_its_frame(p: float, workers: int) -> None:
    figure = amdahl(p, workers, {1: 1.0, 2: 1.7, 16: 0.01}).svg()
    root = ElementTree.fromstring(figure)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for element in root.iter(f"{SVG}rect"):
        assert float(element.get("x", 0)) + float(element.get("width", 0)) <= width
    for curve in root.iter(f"{SVG}polyline"):
        for x, y in (map(float, pair.split(",")) for pair in curve.get("points", "").split()):
            assert 0 <= x <= width
            assert 0 <= y <= height
    for point in root.iter(f"{SVG}circle"):
        assert 0 <= float(point.get("cx", 0)) <= width
        assert 0 <= float(point.get("cy", 0)) <= height


@pytest.mark.parametrize("points_are", ["simulated", "measured"])
def test_points_have_the_colour_of_what_they_are(points_are: str) -> None:
    """Simulated speedups were as green as measured ones, below a bar that says "simulated" in blue."""
    found = titled(amdahl(0.9, 8, {1: 2.0, 4: 0.5}, points_are=points_are).svg(), "circle", points_are)
    assert {e.get("fill") for e in found} == {palette.ROLES[points_are]}
