"""The page of `lockstep show` in a browser, from the disk and without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockstep.cli import main

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_the_page_is_alive(browser: Any, tmp_path: Path) -> None:
    spans = [
        {"ph": "X", "name": f"aten::mm {i}", "cat": "cpu_op", "ts": 10 * i, "dur": 9, "pid": 1, "tid": 1}
        for i in range(2000)
    ]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": spans}))
    assert main(["show", str(tmp_path / "t.json")]) == 0
    page, went_wrong, asked = browser.new_page(viewport={"width": 1200, "height": 700}), [], []
    page.on("pageerror", lambda error: went_wrong.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "t.html").as_uri())
    canvas = page.locator("canvas")
    canvas.focus()
    for key in ("+", "n", "n"):
        page.keyboard.press(key)
    page.get_by_text("thread 1: aten::mm 1").wait_for()
    assert canvas.bounding_box()["width"] > 1000  # as wide as the window, which a notebook's figure is not
    assert (went_wrong, asked) == ([], [(tmp_path / "t.html").as_uri()])
    page.close()
