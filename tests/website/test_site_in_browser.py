"""A part of the site in Chromium, made from nothing, and small ones with a fault of each kind.

They need the extra site, which `scripts/setup site` installs. The whole site is tried by `make site`: its lessons alone
run for longer than this has.
"""

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
    pytest.mark.timeout(1800),
]
SOME = ("04", "13")  # units with figures of every kind, formulas, folds, and both notebooks

FAULTY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><body><article>
<p style="color: #bbb; background: #fff">Pale.</p><a href="gone.html">gone</a>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<img alt="far below" loading="lazy" style="margin-top: 9999px" src="empty.svg">
<div class="ls-figure"></div><script src="https://example.org/x.js"></script>
<script>console.error("told"); throw new Error("thrown");</script></article></body></html>"""


def test_each_kind_of_fault_is_told(tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs the extra site: make site")
    (tmp_path / "index.html").write_text(FAULTY)
    (tmp_path / "empty.svg").write_text("<html>")
    found = check.faults(tmp_path)
    for kind in ("gone.html leads to no file", "console: told", "error: thrown", "not loaded: https://example.org/x.js",
                 "no name: <div", "no name: <img src=", 'no name: <img alt="far below', "axe-core, color-contrast",
                 ):  # fmt: skip
        assert any(kind in line for line in found), kind


FADING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><link rel="icon" href="data:,">
<style>@keyframes come { from { opacity: 0 } } @keyframes turn { to { rotate: 1turn } }
details[open] > summary ~ * { animation: come 600s } b { animation: turn 1s infinite }</style>
<body><article><details><summary>Code</summary><p style="color: COLOUR">x = 1</p></details><b>turns</b></article></body>
</html>"""


def test_what_fades_in_is_judged_when_it_has_come(tmp_path: Path) -> None:
    """95 faults of contrast in a lesson's code, on a busy machine: myst-nb fades in for 0.3 s what is opened, and
    axe-core looked meanwhile. Here it takes ten minutes."""
    pytest.importorskip("axe_playwright_python", reason="needs the extra site: make site")
    (tmp_path / "index.html").write_text(FADING.replace("COLOUR", "#000"))
    assert check.faults(tmp_path) == []
    (tmp_path / "index.html").write_text(FADING.replace("COLOUR", "#bbb"))
    found = check.faults(tmp_path)
    assert [line.startswith("index.html: axe-core, color-contrast: <p") for line in found] == [True, True]


NOT_ALIVE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><link rel="icon" href="data:,">
<body><article><div class="ls-place ls-one"><img class="ls-still" alt="a ring"
src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/%3E"></div>
<script type="module">
const live = () => {}, render = null;
live(render, "one", STATE);</script></article></body></html>"""


def test_a_figure_that_stays_a_picture_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for one that asks a kernel: it has no state, and stays what it is."""
    pytest.importorskip("axe_playwright_python", reason="needs the extra site: make site")
    (tmp_path / "index.html").write_text(NOT_ALIVE.replace("STATE", "null"))
    assert check.faults(tmp_path) == []
    monkeypatch.setattr(check, "PATIENCE", 500)
    (tmp_path / "index.html").write_text(NOT_ALIVE.replace("STATE", '{"ranks": 4}'))
    assert set(check.faults(tmp_path)) == {"index.html: not alive: one"}


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


def test_a_part_of_the_site_has_no_faults_and_moves_from_a_disk(tmp_path: Path) -> None:
    """From nothing, and looked at; then a lesson as a file, without any network: a learner opens what waits, and moves
    a slider."""
    pytest.importorskip("myst_nb", reason="needs the extra site: make site")
    only = [word for unit in SOME for word in ("--only", unit)]
    command = [sys.executable, str(ROOT / "scripts" / "site"), "--check", "--build", str(tmp_path), *only]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=check.chromium(), args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.goto((tmp_path / "site/lessons/04_communication.html").as_uri())
        assert page.locator("details.ls-held[open]").count() == 0
        page.get_by_role("button", name="Open all that waits").click()
        assert page.locator("details.ls-held:not([open])").count() == 0
        ring = page.locator('.ls-figure[aria-label^="Ring all-reduce"]').first
        before = ring.inner_text()
        ring.get_by_role("button", name="step forward").click()
        assert ring.inner_text() != before
        assert page.locator("mjx-container").count() > 0, "formulas are set without a network"
        page.goto((tmp_path / "site/search.html").as_uri() + "?q=halving")
        page.locator("#search-results li a").first.wait_for()
        browser.close()
