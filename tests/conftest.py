"""The time that tests take, Horovod for those that need it, and one Chromium for all browser tests: Playwright's
synchronous API can be started once in a process."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import samples
from proof import meter, plugin

from lockstep import checks
from lockstep.errors import WorldUnavailable
from lockstep.with_horovod.available import require

QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
]  # fmt: skip
CHROMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "LOCKSTEP_HOROVOD"  # "required", as .ci/run says it: a test that needs Horovod fails without it
CHROME_OF_MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def pytest_addoption(parser: pytest.Parser) -> None:
    plugin.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    meter.register(config)
    plugin.register(config)
    keep_bytecode()
    heed_ctrl_c()
    os.environ["JUPYTER_CONFIG_PATH"] = str(Path(__file__).parent)  # jupyter_config.py's folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What a module makes once for its tests is made once indeed: they stay in one worker of pytest-xdist."""
    samples.mark_the_others(items)
    for item in items:
        if runs_horovod(item):
            item.add_marker(pytest.mark.horovod)
        fixtures = getattr(item, "_fixtureinfo", None)
        found = fixtures.name2fixturedefs.values() if fixtures else ()
        if any(made[-1].scope == "module" for made in found) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def runs_horovod(item: pytest.Item) -> bool:
    """Of a test that ``runs`` its argument: an exercise, or all those of a unit."""
    mark = item.get_closest_marker("runs")
    if not mark:
        return False
    what = item.callspec.params[mark.args[0]]
    if not hasattr(what, "topic"):  # of a test without a row: none of its exercises takes what it tries
        return False
    one = isinstance(what, checks.Exercise)
    return any(e.run.require is require for e in ([what] if one else checks.exercises()) if e.topic == what.topic)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if not item.get_closest_marker("horovod"):
        return
    try:
        require()
    except WorldUnavailable as missing:
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(f"{missing}\n{REQUIRED}=required asks for it.", pytrace=False)
        pytest.skip(" ".join(str(missing).split()))


def settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(("LOCKSTEP_", "NBGRADER_"))}


@pytest.fixture(autouse=True)
def _leaves_no_setting() -> Iterator[None]:
    """A test left a secret seed to those after it: a figure changed with it, and a command started one server more."""
    before = settings()
    yield
    after = settings()
    for name in after.keys() | before.keys():  # the next test gets what this one got
        os.environ.pop(name) if name not in before else os.environ.update({name: before[name]})
    assert after == before, "the test has changed the environment, and left it so"


def keep_bytecode() -> None:
    """Tests start hundreds of interpreters and thousands of ranks. Where the surroundings forbid Python to keep what it
    has compiled, as images of containers do, each compiles all of Lockstep anew: a quarter of the suite's time."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def heed_ctrl_c() -> None:
    """`make test &` has tests ignore Ctrl-C, and whatever they start: a run that a test interrupts went on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = next(filter(None, map(shutil.which, (*CHROMES, CHROME_OF_MACOS))), None)
    if path is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()
