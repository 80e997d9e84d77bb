"""The figures of the lesson on the inside of a CPU."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from lockstep.errors import UsageError
from lockstep.show import additions, bars, curves, palette

SVG = "{http://www.w3.org/2000/svg}"


def test_up_to_ten_times_as_much_is_a_bar_ten_times_as_long() -> None:
    """They began at two fifths of the smallest, and 2 ns looked like three quarters of 10 ns."""
    drawn = ElementTree.fromstring(bars({"a": 10.0, "b": 1.0, "c": 2.0}, "ns", "Time").svg())
    long, middle, short = (float(e.get("width", 0)) for e in drawn.iter(f"{SVG}rect") if "data-value" in e.attrib)
    assert long / short == pytest.approx(10, rel=0.01)
    assert middle / short == pytest.approx(2, rel=0.01)
    assert "First to last: 10 times" in bars({"a": 10.0, "b": 1.0}, "ns", "Time").caption()
    with pytest.raises(UsageError, match="above zero"):
        bars({"a": 0.0}, "ns", "Time")


def test_what_is_more_than_ten_times_as_much_is_a_dot_on_an_axis_whose_powers_are_named() -> None:
    drawn = ElementTree.fromstring(bars({"a": 100.0, "b": 1.0, "c": 10.0}, "ns", "Time").svg())
    assert not [e for e in drawn.iter(f"{SVG}rect") if "data-value" in e.attrib]
    dots = [float(e.get("cx", 0)) for e in drawn.iter(f"{SVG}circle")]
    assert dots[0] - dots[1] == pytest.approx(dots[1] - dots[2], abs=0.02)
    places = {e.text: float(e.get("x", 0)) for e in drawn.iter(f"{SVG}text")}
    assert [places[tick] for tick in ("100", "10", "1")] == pytest.approx(dots, abs=0.02)


def test_additions_are_drawn_for_one_accumulator_and_for_as_many_as_are_asked_for() -> None:
    figure = additions(8, latency=4, ports=2)
    assert "1 accumulator: 96 cycles. 8 accumulators: 15 cycles." in figure.caption()
    with pytest.raises(UsageError, match="1 to 16 accumulators"):
        additions(0)
    with pytest.raises(UsageError, match=r"not 2\.5"):
        additions(2.5)


def test_curves_say_their_ends_and_their_marks() -> None:
    words = curves({"here": {1: 1.0, 12: 4.0}}, "accumulators", "times", "Sums", {"full": 8}).caption()
    assert words == "Sums. times over accumulators: here from 1 at 1 to 4 at 12. Dotted: full at 8."
    with pytest.raises(UsageError, match="needs a point"):
        curves({"here": {}}, "x", "y", "Nothing")


def test_the_point_that_the_text_speaks_of_has_a_ring_and_its_value_in_any_theme() -> None:
    figure = curves({"here": {1: 1.0, 8: 3.5, 12: 4.0}}, "accumulators", "times", "Sums", spoken={"here": 8})
    root = ElementTree.fromstring(figure.svg())
    assert "3.5" in {"".join(e.itertext()) for e in root.iter(f"{SVG}text")}
    rings = [e for e in root.iter(f"{SVG}path") if e.get("stroke") == palette.INK]
    assert [e.get("class") for e in rings] == ["ls-line"]
    assert figure.caption().endswith("here 3.5 at 8.")
    with pytest.raises(UsageError, match="no such point"):
        curves({"here": {1: 1.0}}, "x", "y", "Sums", spoken={"here": 2})


def test_lines_are_named_at_their_ends() -> None:
    """A legend below a chart had to be matched with five lines by their dashes."""
    figure = curves({"upper": {1: 1.0, 9: 4.0}, "lower": {1: 1.0, 9: 3.9}}, "x", "y", "Two")
    places = {}
    for e in ElementTree.fromstring(figure.svg()).iter(f"{SVG}text"):
        found = re.fullmatch(r"translate\(([\d.]+),([\d.]+)\)", e.get("transform", ""))
        if found and e.text in ("upper", "lower"):
            places[e.text] = (float(found[1]), float(found[2]))
    assert places["upper"][0] == places["lower"][0]
    assert places["lower"][1] - places["upper"][1] >= 14, "pushed apart"


def test_a_line_that_is_measured_has_the_colour_of_measurements() -> None:
    """ "measured here" was as orange as a prediction, below a bar that says "measured" in green."""
    drawn = curves({"k times as fast": {1: 1.0, 9: 9.0}, "measured here": {1: 1.0, 9: 6.0}}, "k", "times", "Sums").svg()
    assert palette.ROLES["measured"] in drawn
    assert palette.ROLES["measured"] not in curves({"one step": {1: 1.0, 9: 6.0}}, "k", "times", "Sums").svg()


def test_the_place_of_a_mark_has_all_its_digits() -> None:
    """ "L3 at 3.277e+04" KiB."""
    figure = curves({"one step": {4: 1.0, 65536: 99.0}}, "KiB", "ns", "Access", {"L1": 32, "L3": 32768}, log="xy")
    assert "Dotted: L1 at 32, L3 at 32,768." in figure.caption()
