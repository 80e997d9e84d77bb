"""In Chromium: what happens in time has one control, by mouse and by keyboard, and nothing moves unasked."""

from __future__ import annotations

from typing import Any

import pytest
from drawn_traces import ring_trace
from test_widgets_browser import DARK, show  # noqa: F401

from lockstep import show as figures
from lockstep.pipeline.simulate import Times

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.slow]


def pale(page: Any) -> int:
    return int(page.locator(".ls-picture .ls-ahead").count())


def test_a_pipeline_is_stepped_slot_by_slot(show: Any) -> None:  # noqa: F811
    page = show(figures.pipeline("gpipe", stages=3, micro_batches=3, times=Times.equal(), among=("gpipe",)))
    assert pale(page) == 0  # standing still, it says everything
    page.locator(".ls-picture").focus()
    page.keyboard.press("Home")
    assert pale(page) == 18
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert pale(page) == 15
    assert page.locator(".ls-picture .ls-now").count() == 2
    assert page.locator("[aria-live]").text_content() == "Until 2: stage 0 Forward(1); stage 1 Forward(0); 1 of 3 wait."
    page.get_by_role("button", name="slot back").click()
    assert pale(page) == 17
    page.get_by_role("slider", name="micro-batches").fill("1")
    assert pale(page) == 0


def test_space_plays_and_the_end_stops(show: Any) -> None:  # noqa: F811
    page = show(figures.pipeline("pipedream", stages=2, micro_batches=2, among=("pipedream",)), DARK)
    page.clock.install()
    page.locator(".ls-picture").focus()
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").count() == 1
    page.clock.run_for(1100)
    assert 0 < pale(page) < 8
    page.clock.run_for(9000)
    assert pale(page) == 0
    assert page.get_by_role("button", name="Play").count() == 1


def test_a_button_at_the_end_keeps_the_focus(show: Any) -> None:  # noqa: F811
    page = show(figures.ring(2))
    on = page.get_by_role("button", name="step forward")
    on.focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert on.get_attribute("aria-disabled") == "true"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "step forward"


def test_what_moves_stands_still_for_those_who_ask(show: Any) -> None:  # noqa: F811
    page = show(figures.ring(4))
    seen = "document.querySelector('.ls-come') && getComputedStyle(document.querySelector('.ls-come')).animationName"
    assert page.evaluate("document.getAnimations().length") == 0
    page.get_by_role("button", name="step forward").click()
    assert page.evaluate(seen) == "ls-come"
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("button", name="step forward").click()
    assert page.evaluate(seen) == "none"
    assert "step 2 of 6" in page.locator(".ls-picture").text_content()


def test_a_timeline_is_stepped_and_covers_what_comes_later(show: Any) -> None:  # noqa: F811
    page = show(figures.timeline(ring_trace(3)))
    slider = page.get_by_role("slider", name="step")
    assert slider.evaluate("e => e.nextSibling.textContent") == "all"
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_role("button", name="step forward").click()
    told = page.locator(".ls-readout").inner_text()
    assert "rank 0" in told
    page.locator("canvas").focus()
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").count() == 1
    page.keyboard.press(" ")
