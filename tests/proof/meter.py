"""What the tests cost: CPU seconds by group, and the dearest of them, printed at the end of each run.

A test is charged with what its process has used since the test before it, with what the children have used that were
waited for, and with what living descendants have used: fork servers, kernels, a browser. Nobody sees a descendant whose
parents are gone, a service that was there before (slurmd), or what happens outside of tests: collecting them, lint, the
build, setting up.
"""

from __future__ import annotations

import json
import resource
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

CPU = "CPU seconds"
GROUPS = ("engine", "answers", "lessons", "grading", "slurm", "rest")
DEAREST = 30  # tests that a long run names
LONG = 300.0  # CPU seconds
FILE = Path("build") / "cpu-seconds.json"  # of the last run: each test's
PLACES = {  # the longest that fits
    **dict.fromkeys(
        (
            "bench",
            "chaos",
            "classical",
            "collectives",
            "cost",
            "cpu",
            "data_parallel",
            "experts",
            "installs",
            "launch",
            "pipeline",
            "programs",
            "sharded",
            "tensor_parallel",
            "with_horovod",
            "without_waiting",
        ),
        "engine",
    ),
    **dict.fromkeys(
        ("simt", "virtual", "test_dye.py", "test_lines.py", "test_machines.py", "test_memory.py"), "engine"
    ),
    **dict.fromkeys(("test_record.py", "test_residency.py", "test_straggler.py", "test_worlds.py"), "engine"),
    "checks": "answers",
    "hub": "grading",
    "browser": "lessons",
    "grading/test_labs.py": "lessons",
    "grading/test_units.py": "lessons",
    "grading": "grading",
    "hostile": "grading",
    "slurm": "slurm",
}


def group_of(nodeid: str) -> str:
    """As in "answers", of "tests/checks/test_answers.py::test_a_right_answer_passes"."""
    path = nodeid.partition("::")[0].removeprefix("tests/")
    fitting = [place for place in PLACES if path == place or path.startswith(f"{place}/")]
    return PLACES[max(fitting, key=len)] if fitting else "rest"


class Used:
    """CPU seconds of this process and of all that it has started, as far as it can know. Descendants are looked at four
    times a second at most: to find them takes longer than most tests."""

    def __init__(self) -> None:
        self.living, self.looked = 0.0, 0.0

    def __call__(self) -> float:
        if time.monotonic() - self.looked > 0.25:
            self.living, self.looked = sum(_living()), time.monotonic()
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in usages) + self.living


def _living() -> Iterator[float]:
    for process in psutil.Process().children(recursive=True):
        try:
            yield sum(process.cpu_times()[:4])  # its own, and of children that it has waited for
        except psutil.Error:
            continue


class Meter:
    """Charges each test, in the process that runs it."""

    def __init__(self) -> None:
        self.used = Used()
        self.before: float | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self.before = self.used() if self.before is None else self.before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        if call.when == "teardown" and self.before is not None:
            now = self.used()
            item.user_properties.append((CPU, max(0.0, now - self.before)))
            self.before = now
        return (yield)


class Account:
    """Adds up what the tests were charged with, over all workers."""

    def __init__(self, root: Path) -> None:
        self.file = root / FILE
        self.each: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.each[report.nodeid] += dict(report.user_properties).get(CPU, 0.0)

    def pytest_sessionfinish(self) -> None:
        if self.each:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(json.dumps(self.each, indent=0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.each:
            terminalreporter.section(CPU)
            terminalreporter.write_line(table(self.each))
        if sum(self.each.values()) > LONG:
            for name, spent in self.each.most_common(DEAREST):
                terminalreporter.write_line(f"{spent:>10,.1f}  {name}")


def table(each: Mapping[str, float]) -> str:
    spent, tests = Counter[str](), Counter[str]()
    for name, seconds in each.items():
        spent[group_of(name)] += seconds
        tests[group_of(name)] += 1
    rows = [f"{group:10}{spent[group]:>14,.1f}{tests[group]:>8,}" for group in GROUPS if tests[group]]
    return "\n".join(
        [f"{'group':10}{CPU:>14}{'tests':>8}", *rows, f"{'all':10}{spent.total():>14,.1f}{tests.total():>8,}"]
    )


def register(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter(), "meter")
    if not hasattr(config, "workerinput"):  # no worker of xdist
        config.pluginmanager.register(Account(config.rootpath), "account")
