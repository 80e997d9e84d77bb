"""The roofline's model: the roofs are those of the formula, and every kernel stands where its numbers say."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from lockstep import show
from lockstep.errors import UsageError
from lockstep.exercises.cpu.cache_misses import draw_misses
from lockstep.machines import Device
from lockstep.show.lines import draw_lines
from lockstep.show.registers import draw_registers
from lockstep.show.roofline import Kernel, Roofline

SVG = "{http://www.w3.org/2000/svg}"
ROOFS: dict[str, Any] = {"peak": 100e9, "bandwidths": {"L1": 200e9, "memory": 20e9}}


def test_the_lower_roof_decides() -> None:
    model = Roofline(**ROOFS)
    assert model.memory == "memory"
    assert (model.ridge("memory"), model.ridge("L1")) == (5.0, 0.5)
    assert [model.attainable(i) for i in (0.5, 5.0, 50.0)] == [10e9, 100e9, 100e9]
    assert model.attainable(0.25, "L1") == 50e9


def test_it_agrees_with_the_exercise() -> None:
    from lockstep.cpu.roofline import roofline

    model, device = Roofline(**ROOFS), Device("", {"float32": 100e9}, 20e9, 1, 0.0)
    for flops in (1.0, 400.0, 600.0, 1e6):
        kernel = Kernel("", flops, 100.0)
        assert (model.attainable(kernel.intensity), model.bound(kernel)) == roofline(flops, 100.0, device)


def test_a_measured_kernel_knows_its_share() -> None:
    model = Roofline(**ROOFS)
    assert model.share(Kernel("half", 2e9, 8e9, 0.8)) == pytest.approx(0.5)
    assert model.share(Kernel("unmeasured", 2e9, 8e9)) is None


def test_a_kernel_is_compared_with_the_roof_of_the_place_where_its_data_lie() -> None:
    """A dot product in L1 was told that it reaches 645 % of what memory allows."""
    kernels = {"near": (2e6, 8e6, 1e-4, "L1"), "far": (2e6, 8e6, 1e-3, "memory")}
    told = show.roofline(ROOFS["peak"], ROOFS["bandwidths"], kernels).caption()
    assert "At most 50 GFLOP/s, with its data in L1, limited by memory; measured 20 GFLOP/s, 40% of it." in told
    assert "At most 5 GFLOP/s, limited by memory; measured 2 GFLOP/s, 40% of it." in told
    with pytest.raises(UsageError, match="lie in 'L4', of which no bandwidth is given"):
        show.roofline(ROOFS["peak"], ROOFS["bandwidths"], {"near": (2e6, 8e6, 1e-4, "L4")})


def test_the_figure_says_what_it_shows() -> None:
    figure = show.roofline(100e9, {"memory": 20e9}, {"dot": (2e6, 8e6, 1e-3), "matmul": (2e9, 12e6)})
    told = figure.caption()
    assert "dot: 2 MFLOP and 8 MB, 0.25 FLOP/byte. At most 5 GFLOP/s, limited by memory" in told
    assert "measured 2 GFLOP/s, 40% of it." in told
    assert "matmul: 2 GFLOP and 12 MB, 167 FLOP/byte. At most 100 GFLOP/s, limited by computing." in told
    assert figure.svg().count("<circle") == 2 + 2, "two kernels and the legend"


@pytest.mark.parametrize("kernels", [{}, {"far": (1.0, 1e9, 1.0)}, {"near": (1e12, 8.0)}, {"a": (2, 8), "b": (2, 8)}])
@pytest.mark.parametrize("bandwidth", [1e6, 1e12])
def test_any_kernel_stands_within_the_frame(kernels: dict[str, Any], bandwidth: float) -> None:
    root = ElementTree.fromstring(show.roofline(1e11, bandwidth, kernels).svg())
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for tag, pairs in (("circle", (("cx", "cy"),)), ("line", (("x1", "y1"), ("x2", "y2")))):
        for element in root.iter(SVG + tag):
            for x, y in pairs:
                assert 0 <= float(element.get(x, -1)) <= width
                assert 0 <= float(element.get(y, -1)) <= height


def test_names_that_would_overlap_are_pushed_apart() -> None:
    kernels = {"one": (2, 8, 1e-9), "two": (2, 8, 1.05e-9)}
    root = ElementTree.fromstring(show.roofline(1e11, 2e10, kernels).svg())
    heights = [float(t.get("y", 0)) for t in root.iter(SVG + "text") if t.text in kernels]
    assert abs(heights[0] - heights[1]) >= 15


@pytest.mark.parametrize(
    "bad",
    [
        {"peak": 0}, {"bandwidths": {}}, {"bandwidths": -1.0}, {"kernels": {"copy": (0, 8)}},
        {"kernels": {"free": (8, 0)}}, {"kernels": {"one": (1,)}}, {"kernels": {"fast": (1, 1, 0.0)}},
    ],
    ids=str,
)  # fmt: skip
def test_values_without_sense_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        show.roofline(**ROOFS | bad)


def test_registers_are_drawn_as_lanes_and_accumulators() -> None:
    drawn = draw_registers(8, 32, 4, accumulates=True, note="7 times")
    assert drawn.count("<rect") == 8 * 4 + 1  # and the card
    assert "8 float32 in each instruction, 4 accumulators" in drawn
    assert "7 times" in drawn
    assert "One sum" in draw_registers(1, 32, 1, accumulates=True)


def test_lines_show_who_writes_where() -> None:
    shared = draw_lines([[64 + 8 * w, w] for w in range(4)], 499, 4)
    assert shared.count(">line ") == 1
    apart = draw_lines([[64 + 64 * w, w] for w in range(4)], 0, 4)
    assert apart.count(">line ") == 4
    assert ">w0,1<" in draw_lines([[64, 0], [64, 1]], 9, 2)


@pytest.mark.parametrize("misses", [{"A": 10, "B": 90}, {"A": 5000, "B": 40_000, "C and others": 20}, {}])
def test_misses_are_parted_by_array_and_stay_in_the_frame(misses: dict[str, int]) -> None:
    root = ElementTree.fromstring(draw_misses(misses, 3280))
    bars = [(float(r.get("x", 0)), float(r.get("width", 0))) for r in root.iter(SVG + "rect") if r.get("x")]
    assert len(bars) == len(misses)
    total = sum(misses.values())
    assert sum(width for _, width in bars) == pytest.approx(486 * total / max(3280, total), abs=0.1)
    assert all(x >= 0 and x + width <= 501 for x, width in bars)
