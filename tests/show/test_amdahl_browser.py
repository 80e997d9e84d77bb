"""The figure of speedups in headless Chromium: its sliders, its keys, its colours in the dark."""

from __future__ import annotations

from typing import Any

import pytest
from test_widgets_browser import DARK, show  # noqa: F401

from lockstep.show import amdahl
from lockstep.show.amdahl import SpeedupCurves

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def slide(page: Any, figure: SpeedupCurves, number: int, stop: str) -> None:
    slider = figure.sliders()[number]
    page.get_by_role("slider", name=slider.name).fill(str(slider.stops.index(stop)))


@pytest.mark.later
def test_the_sliders_move_the_figure(show: Any) -> None:  # noqa: F811
    figure = amdahl(0.95, 16)
    page = show(figure)
    slide(page, figure, 1, "1,024")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('1,024 workers')")
    slide(page, figure, 0, "0.5")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('1/(1-p) = 2')")
    assert page.locator("output").all_text_contents() == ["0.5", "1,024"]
    assert "2 times as fast by 1,024 workers" in page.locator("[aria-live]").text_content()


@pytest.mark.slow
def test_by_keyboard_alone(show: Any) -> None:  # noqa: F811
    figure = amdahl(0.95, 16)
    page = show(figure)
    page.get_by_role("slider", name="workers s").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('32 workers')")


@pytest.mark.slow
def test_the_points_stay_while_a_slider_moves(show: Any) -> None:  # noqa: F811
    figure = amdahl(0.95, 16, {1: 1.0, 2: 0.55})
    page = show(figure, DARK)
    before = page.locator(".ls-picture circle").count()
    assert "measured" in page.locator(".ls-picture").text_content()
    assert page.locator(".ls-picture svg text").first.evaluate("e => getComputedStyle(e).fill") == "rgb(255, 255, 255)"
    slide(page, figure, 0, "0")
    page.wait_for_function("document.querySelector('.ls-picture').textContent.includes('p = 0:')")
    assert page.locator(".ls-picture circle").count() == before
