"""The figures of the lesson on the inside of a CPU."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lockstep.errors import UsageError
from lockstep.show import additions, bars, curves

SVG = "{http://www.w3.org/2000/svg}"


def test_a_bar_is_a_decade_longer_for_ten_times_as_much() -> None:
    drawn = ElementTree.fromstring(bars({"a": 100.0, "b": 1.0, "c": 10.0}, "ns", "Time").svg())
    long, middle, short = (float(e.get("width", 0)) for e in drawn.iter(f"{SVG}rect") if e.get("rx") == "2")
    assert long - middle == pytest.approx(middle - short, abs=0.02)
    assert "First to last: 100 times" in bars({"a": 100.0, "b": 1.0}, "ns", "Time").caption()
    with pytest.raises(UsageError, match="above zero"):
        bars({"a": 0.0}, "ns", "Time")


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
