"""The explorer of plans in headless Chromium, without a kernel: sliders, keys, points, and what is no plan."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from test_widgets_browser import DARK, show  # noqa: F401

from lockstep.planner.answers import described
from lockstep.show import plan
from lockstep.show.plan import PlanExplorer

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.slow]


@pytest.fixture(scope="module")
def explorer() -> PlanExplorer:
    return plan("llama3-8b", batch=1024)


def told(page: Any) -> str:
    return str(page.locator("div[role=status]").text_content())


def slider(page: Any, name: str) -> Any:
    return page.get_by_role("slider", name=name, exact=True)


def test_a_slider_moves_the_numbers_and_they_are_the_planner_s(show: Any, explorer: PlanExplorer) -> None:  # noqa: F811
    page = show(explorer)
    before, field = told(page), explorer.first.field
    assert field is not None
    slider(page, "tp").press("ArrowRight")
    assert told(page) != before
    axes = dict(re.findall(r"(\w+)=(\w+)", page.locator(".ls-code").text_content()))
    (found,) = (f for f in field.found if all(str(getattr(f.plan, axis)) == axes[axis] for axis in axes))
    told_by_the_planner = described(field.job, found, None)
    assert f"{told_by_the_planner['step_time']:.3g} s, likely" in told(page)
    assert f"MFU {100 * told_by_the_planner['mfu']:.0f} %" in told(page)
    page.get_by_role("button", name="Best plan").click()
    assert told(page) == before


def test_what_is_no_plan_says_why(show: Any, explorer: PlanExplorer) -> None:  # noqa: F811
    page = show(explorer)
    slider(page, "tp").press("End")
    assert told(page) == "Not a plan: tp=16 does not divide 8 KV heads."
    assert page.locator(".ls-code").is_hidden()
    page.get_by_role("button", name="Best plan").click()
    slider(page, "ep").press("ArrowRight")
    assert "ep=8 needs experts" in told(page)
    slider(page, "ep").press("Home")
    slider(page, "zero").press("Home")
    slider(page, "micro-batch").press("End")
    assert "not computed ahead" in told(page)
    assert "zero=0" in page.locator(".ls-code").text_content()
    slider(page, "cluster").press("Home")
    slider(page, "precision").press("End")
    assert "has no NVFP4." in told(page)


def test_a_plan_that_does_not_fit_says_what_it_needs(show: Any, explorer: PlanExplorer) -> None:  # noqa: F811
    page, field = show(explorer), explorer.first.field
    assert field is not None
    points = page.locator(".ls-picture[tabindex]")
    points.focus()
    for _ in field.found:
        page.keyboard.press("ArrowLeft")
    fastest = min(field.found, key=lambda found: found.step_time)
    reason = described(field.job, fastest, None)["reason"]
    assert reason
    assert reason in told(page)
    assert "does not fit" in page.locator(".ls-readout").text_content()


def test_a_point_can_be_read_and_taken(show: Any, explorer: PlanExplorer) -> None:  # noqa: F811
    page = show(explorer, DARK)
    best = told(page)
    page.set_viewport_size({"width": 960, "height": 1400})
    at = {name: float(page.locator(".ls-here").get_attribute(name)) for name in ("cx", "cy")}
    slider(page, "recompute").press("End")
    assert told(page) != best
    box = page.locator(".ls-picture[tabindex] svg").bounding_box()
    scale = box["width"] / 540
    x, y = box["x"] + at["cx"] * scale, box["y"] + (at["cy"] + 8) * scale  # its view begins 8 above zero
    page.mouse.move(x, y)
    assert page.locator(".ls-readout").text_content().endswith(", fits")
    page.mouse.click(x, y)
    assert told(page) == best


def test_a_saved_page_lives_offline(browser: Any, explorer: PlanExplorer, tmp_path: Path) -> None:
    explorer.save(tmp_path / "plans.html")
    context = browser.new_context(offline=True, viewport={"width": 960, "height": 900})
    page = context.new_page()
    page.goto((tmp_path / "plans.html").as_uri())
    page.locator(".ls-here").wait_for()
    slider(page, "GPUs").press("End")
    assert "1,024 GPUs of dgx-h100" in page.locator(".ls-caption").text_content()
    for width in (508, 960, 1280):
        page.set_viewport_size({"width": width + 16, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width + 16
        sizes = page.evaluate(
            """() => [...document.querySelectorAll('.ls-picture text')].map((e) => 12 * e.getScreenCTM().a)"""
        )
        assert min(sizes) >= 11, width
    context.close()
