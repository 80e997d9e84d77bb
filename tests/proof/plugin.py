"""For pytest: run some parts of the tests alone, in their order; note which of them have passed; end in time.

    --proof FILE    {"parts": ["tests/test_dye.py", …], "marks": "", "until": 1796000000.0, "watched": true,
                     "noted": "build/proof/noted.jsonl", "failed": "build/proof/failed.jsonl"}

A part has passed when each of its tests has, of those with these ``marks``: whoever narrows a run further proves
nothing by it. One that was skipped for want of what can be installed proves nothing.
``-k NAME``, of an exercise, collects only modules whose tests may have that name (``named``); and without ``-m`` it
runs what `make test` does, but for tests that are marked ``later``.
"""

from __future__ import annotations

import gc
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from asked import ask_for

from proof import named
from proof.closure import Closure, Part, read_kept
from proof.parts import Parts
from proof.tree import Tree
from proof.watch import MISSED, Watch

PART = "part"
KEPT = Path("build") / "proof" / "names.json"
NARROW = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "stepwise")  # options that leave tests out
WANTING = re.compile(r"horovod|chromium|bubblewrap|bwrap|slurm|mpirun|buildah|sandbox|npm|hub|extra", re.IGNORECASE)


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--proof", help="a file that says which parts of the tests run, and where it is noted")


def register(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "later: of `make test`; `pytest -k EXERCISE` leaves it to that")
    config.pluginmanager.register(Frozen(), "frozen")
    config.pluginmanager.register(Short(), "short")
    if config.getoption("proof"):
        plan = json.loads(Path(config.getoption("proof")).read_text())
        closure = Closure(Tree.working(config.rootpath), read_kept(config.rootpath / KEPT))
        parts = Parts(closure)
        if plan["watched"]:
            config.pluginmanager.register(Watch(config.rootpath, closure, parts), "watch")
        ask_for({part.of for part in map(Part.named, plan["parts"]) if part.of in closure.exercises})
        first = getattr(config, "workerinput", {"workerid": "gw0"})["workerid"] == "gw0"
        config.pluginmanager.register(Chosen(config.rootpath, plan, parts, first), "chosen")
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Noted(config, plan), "noted")
    if (word := config.getoption("keyword")) and (of_one := named.of_exercise(config.rootpath, word)):
        from lockstep.forking import starter

        starter.begin()  # it loads torch while tests are collected
        config.pluginmanager.register(of_one, "named")
        config.option.markexpr = config.option.markexpr or "not slow and not later"


class Frozen:
    """What was imported and collected is no garbage: Python looks for none there, neither now nor at its end. That
    was five of fifteen seconds of ``pytest -k``."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        gc.disable()

    def pytest_collection_finish(self) -> None:
        gc.freeze()
        gc.enable()

    def pytest_unconfigure(self) -> None:
        gc.freeze()


class Short:
    """A whole program is no name of a test: ``pytest -k ring_all_reduce`` ran whatever has it in a text."""

    def pytest_make_parametrize_id(self, val: object, argname: str) -> str | None:
        return argname if isinstance(val, str) and "\n" in val else None


class Chosen:
    """Of what was collected, the items of these parts, and in each its part and how many items that has."""

    def __init__(self, root: Path, plan: Mapping[str, Any], parts: Parts, first: bool) -> None:
        self.parts, self.first = parts, first
        self.noted, self.marks = root / plan["noted"], plan["marks"]
        self.order = {name: place for place, name in enumerate(plan["parts"])}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        names = {item: str(self.parts.of(item)) for item in items}
        chosen = sorted((item for item in items if names[item] in self.order), key=lambda i: self.order[names[i]])
        config.hook.pytest_deselected(items=[item for item in items if names[item] not in self.order])
        items[:] = chosen
        narrowed = any(config.getoption(name, None) for name in NARROW)
        if narrowed or config.getoption("markexpr") != self.marks:
            return
        count = Counter(names[item] for item in chosen)
        for item in chosen:
            item.user_properties.append((PART, (names[item], count[names[item]])))
        if self.first and not session.testsfailed:
            _note(self.noted, [name for name in self.order if name not in count])  # it has no tests


class Noted:
    """In the process that hears of all reports."""

    def __init__(self, config: pytest.Config, plan: Mapping[str, Any]) -> None:
        self.config = config
        self.until = plan.get("until")
        self.file, self.failed = (config.rootpath / plan[name] for name in ("noted", "failed"))
        self.done: Counter[str] = Counter()
        self.missed: dict[str, set[str]] = defaultdict(set)
        self.spoiled: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        name, count = properties.get(PART, ("", 0))
        if missed := properties.get(MISSED):
            self.spoiled.add(name)
            self.missed[name].update(missed)
        if report.failed or (report.skipped and WANTING.search(str(report.longrepr))):
            self.spoiled.add(name)
        if report.failed:
            _note(self.failed, [report.nodeid])
        if report.when == "teardown":
            self.done[name] += 1
            if name and self.done[name] == count and name not in self.spoiled:
                _note(self.file, [name])
        if self.until and time.time() > self.until:
            self.config.pluginmanager.getplugin("dsession").shouldstop = "the time is over"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for name, files in sorted(self.missed.items()):
            told = f"{name} reads {', '.join(sorted(files))}, and does not name it: pytest.mark.reads(…)"
            terminalreporter.write_line(told, red=True)


def _note(file: Path, names: list[str]) -> None:
    with file.open("a") as noted:
        noted.writelines(f"{json.dumps(name)}\n" for name in names)


def noted(file: Path) -> list[Part]:
    """The parts that have passed."""
    return [Part.named(json.loads(line)) for line in lines(file)]


def lines(file: Path) -> list[str]:
    """Those that are whole: a run may be killed at any time."""
    return [line for line in file.read_text().splitlines() if line.endswith('"')] if file.exists() else []
