"""The finished site in Chromium, and a small one with a fault of each kind. They need the extra site (`make site`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from website import check

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.reads(
        "course/",
        "labs/",
        "docs/",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "scripts/website/",
        "scripts/site",
        "pkg/lockstep/show/",
        "pkg/lockstep/lessons/",
        "tests/show/all_figures.py",
    ),  # of what a page is made; that every lesson runs is another test's business
    pytest.mark.timeout(3000),
]

FAULTY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><body><article>
<p style="color: #bbb; background: #fff">Pale.</p><a href="gone.html">gone</a>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<div class="ls-figure"></div><script src="https://example.org/x.js"></script>
<script>console.error("told"); throw new Error("thrown");</script></article></body></html>"""


def test_each_kind_of_fault_is_told(tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs the extra site: make site")
    (tmp_path / "index.html").write_text(FAULTY)
    found = check.faults(tmp_path)
    for kind in ("gone.html leads to no file", "console: told", "error: thrown", "not loaded: https://example.org/x.js",
                 "no name: <div", "no name: <img", "axe-core, color-contrast"):  # fmt: skip
        assert any(kind in line for line in found), kind


def test_a_heavy_first_page_is_told(tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs the extra site: make site")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><link rel="icon" href="data:,"><p>x</p>'
    )
    (tmp_path / "index.html").write_text(page)
    assert check.faults(tmp_path) == []
    (tmp_path / "index.html").write_text(page + "<!--" + "x" * check.FIRST_PAGE + "-->")
    [fault] = check.faults(tmp_path)
    assert fault.startswith("index.html: 300,")


def test_the_site_has_no_faults_and_moves_from_a_disk() -> None:
    """`make site`; then a lesson as a file, without any network: a learner opens what waits, and moves a slider."""
    pytest.importorskip("myst_nb", reason="needs the extra site: make site")
    command = [sys.executable, str(ROOT / "scripts" / "site"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=check.chromium(), args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.goto((ROOT / "build/site/lessons/04_communication.html").as_uri())
        assert page.locator("details.ls-held[open]").count() == 0
        page.get_by_role("button", name="Open all that waits").click()
        assert page.locator("details.ls-held:not([open])").count() == 0
        ring = page.locator('.ls-figure[aria-label^="Ring all-reduce"]').first
        before = ring.inner_text()
        ring.get_by_role("button", name="step forward").click()
        assert ring.inner_text() != before
        assert page.locator("mjx-container").count() > 0, "formulas are set without a network"
        page.goto((ROOT / "build/site/search.html").as_uri() + "?q=halving")
        page.locator("#search-results li a").first.wait_for()
        browser.close()
