"""The suite's time. Each test belongs to a group, each group has a share of CPU seconds, and a whole run in which a
group is above its share fails. The same tests take half as much again on another machine, or on this one beside other
work: so a piece of work that is always the same is timed all along the run, and where it takes longer than it did on
the machine that the debts were measured on, the shares are as much larger.

A test is charged with what its process has used since the test before it, with what the children have used that were
waited for, and with what living descendants have used: fork servers, kernels, a browser. Nobody sees a descendant whose
parents are gone, a service that was there before (slurmd), or what happens outside of tests: collecting them, lint, the
build, setting up.

    python tests/shares.py      the last whole run of this commit, and what had to be tried twice
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).parents[1]
MINUTE = 120  # CPU seconds: a minute on two cores
UNITS = 14  # those that the shares are for
FAST, SLOW = "not slow", "slow"  # what `make test` runs, and .ci/run beyond it
CPU = "CPU seconds"
PACE = "pace"
YARDSTICK = 0.020  # CPU seconds of `yardstick` on the machine that the debts were measured on, when it was quiet
EVERY = 20  # tests from one look at the pace to the next
DEAREST = 30  # tests that a whole run names


@dataclass(frozen=True)
class Group:
    """Shares in minutes on two cores. Those of a group that ``grows`` are for all units: as many fourteenths count as
    there are units. ``debt``: CPU seconds that it takes today, above its share; they may only become fewer."""

    name: str
    fast: float
    slow: float
    grows: bool = False
    debt: Mapping[str, float] = field(default_factory=dict)

    def share(self, part: str, units: int) -> float:
        """CPU seconds."""
        minutes = self.fast if part == FAST else self.slow
        return minutes * MINUTE * (units / UNITS if self.grows else 1)

    def limit(self, part: str, units: int) -> float:
        return max(self.share(part, units), self.debt.get(part, 0.0))


# `make test`, with seven units: engine 653, answers 529, lessons 466, grading 121, rest 197. With twelve, in CI: 1,276,
# 847, 850, 148, 364. On another machine, at a pace of 0.90: 1,224, 874, 805, 73, 399; since torch is loaded in less
# time, at 0.71: 1,135, 768, 714, 66, 307. What .ci/run did beyond it, before long tests took turns: engine 835, answers
# 2,165, lessons 1,541, grading 135, rest 296.
GROUPS = (
    Group("engine", fast=7, slow=12, debt={FAST: 1300}),
    Group("answers", fast=6, slow=12, grows=True, debt={FAST: 900, SLOW: 1500}),
    Group("lessons", fast=7, slow=6, grows=True, debt={FAST: 900, SLOW: 1200}),
    Group("grading", fast=3, slow=4),
    Group("slurm", fast=0, slow=1),
    Group("rest", fast=3, slow=0, debt={SLOW: 500}),
)
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
    "grading": "grading",
    "hostile": "grading",
    "slurm": "slurm",
}


def group_of(nodeid: str) -> str:
    """As in "answers", of "tests/checks/test_answers.py::test_a_right_answer_passes"."""
    path = nodeid.partition("::")[0].removeprefix("tests/")
    fitting = [place for place in PLACES if path == place or path.startswith(f"{place}/")]
    return PLACES[max(fitting, key=len)] if fitting else "rest"


def used() -> float:
    """CPU seconds of this process and of all that it has started, as far as it can know."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages) + sum(_living())


def _living() -> Iterator[float]:
    for process in psutil.Process().children(recursive=True):
        try:
            yield sum(process.cpu_times()[:4])  # its own, and of children that it has waited for
        except psutil.Error:
            continue


def yardstick() -> float:
    """CPU seconds of a piece of work that is always the same."""
    began, total, seen = time.process_time(), 0, {}
    for i in range(60_000):
        seen[i & 255] = (total, str(i))
        total += i * i % 7
    return time.process_time() - began


class Meter:
    """Charges each test, in the process that runs it."""

    def __init__(self) -> None:
        self.before: float | None = None
        self.done = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self.before = used() if self.before is None else self.before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        if call.when == "teardown" and self.before is not None:
            now = used()
            item.user_properties.append((CPU, max(0.0, now - self.before)))
            if self.done % EVERY == 0:
                item.user_properties.append((PACE, yardstick() / YARDSTICK))
            self.done += 1
            self.before = used()
        return (yield)


class Shares:
    """Adds up what the tests were charged with, over all workers, prints it, and fails a whole run."""

    def __init__(self, config: pytest.Config) -> None:
        self.spent: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()
        self.each: Counter[str] = Counter()
        self.paces: list[float] = []
        self.again: list[str] = []
        self.part = config.getoption("markexpr")
        self.repeats = bool(config.getoption("lf", False))
        narrowed = any(config.getoption(name) for name in ("keyword", "deselect", "ignore", "ignore_glob"))
        everything = config.args_source is not pytest.Config.ArgsSource.ARGS and not narrowed
        self.whole = self.part in (FAST, SLOW) and everything
        self.units = len(list(config.rootpath.glob("course/[0-9]*_*")))
        self.file = config.rootpath / "build" / "shares" / f"{commit(config.rootpath)}.json"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            group = group_of(report.nodeid)
            noted = dict(report.user_properties)
            self.spent[group] += noted.get(CPU, 0.0)
            self.each[report.nodeid] += noted.get(CPU, 0.0)
            self.paces += [noted[PACE]] if PACE in noted else []
            self.tests[group] += 1
            self.again += [report.nodeid] if self.repeats else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.whole and self.tests:
            self._keep()
            if exitstatus == pytest.ExitCode.OK and self.above():
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _keep(self) -> None:
        """What is tried once more counts with what it repeats."""
        kept = json.loads(self.file.read_text()) if self.file.exists() else {}
        if self.repeats and self.part in kept:
            self.spent += Counter(kept[self.part]["spent"])
            self.tests += Counter(kept[self.part]["tests"])
            self.each += Counter(kept[self.part]["each"])
            self.paces += kept[self.part]["paces"]
        kept[self.part] = {
            "spent": self.spent,
            "tests": self.tests,
            "again": sorted(self.again),
            "each": self.each,
            "paces": self.paces,
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(kept))

    def pace(self) -> float:
        """How many times as long as on the machine of the shares the same work takes here; 1 on a faster one."""
        return max(1.0, statistics.median(self.paces)) if self.paces else 1.0

    def above(self) -> list[str]:
        """One sentence for each group above its share."""
        return [
            f"The tests of {group.name} took {self.spent[group.name]:,.0f} CPU seconds; their share is {limit:,.0f}: "
            "make the dearest cheaper."
            for group in GROUPS
            if self.spent[group.name] > (limit := self.pace() * group.limit(self.part, self.units))
        ]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.tests:
            terminalreporter.section("CPU seconds")
            terminalreporter.write_line(table(self.part, self.spent, self.tests, self.units))
            if self.whole:
                terminalreporter.write_line(f"Shares count {self.pace():.2f} times: so slow is this machine now.")
                for name, spent in self.each.most_common(DEAREST):
                    terminalreporter.write_line(f"{spent:>10,.1f}  {name}")
                for sentence in self.above():
                    terminalreporter.write_line(sentence, red=True)


def table(part: str, spent: Mapping[str, float], tests: Mapping[str, int], units: int) -> str:
    rows = [f"{'group':10}{CPU:>14}{'share':>8}{'tests':>8}"]
    for group in GROUPS:
        if tests.get(group.name):
            share = f"{group.share(part, units):,.0f}" if part in (FAST, SLOW) else ""
            debt = f"  debt: {group.debt[part]:,.0f}" if part in group.debt else ""
            rows.append(f"{group.name:10}{spent[group.name]:>14,.1f}{share:>8}{tests[group.name]:>8,}{debt}")
    return "\n".join(rows)


def commit(root: Path) -> str:
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "none"


def register(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter(), "meter")
    if not hasattr(config, "workerinput"):  # no worker of xdist
        config.pluginmanager.register(Shares(config), "shares")


def main() -> None:
    file, units = ROOT / "build" / "shares" / f"{commit(ROOT)}.json", len(list(ROOT.glob("course/[0-9]*_*")))
    kept = json.loads(file.read_text()) if file.exists() else {}
    for part, run in kept.items():
        print(f"==> {part}\n{table(part, run['spent'], run['tests'], units)}")
    again = [name for run in kept.values() for name in run["again"]]
    if again:
        print("==> tried twice, each a defect\n" + "\n".join(again))


if __name__ == "__main__":
    main()
