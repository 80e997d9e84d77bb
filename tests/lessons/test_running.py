"""A cell that says nothing for two seconds is seen to run: lesson 09 was silent for eleven seconds at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lockstep.lessons import running
from lockstep.lessons.running import Running, Watch, watch


class Clock:
    """The seconds that pass while a cell runs; the counting thread waits for nothing else."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []

    def show(data: dict[str, str], display_id: str, raw: bool) -> None:
        said.append(data["text/plain"])

    monkeypatch.setattr(running, "display", show)
    monkeypatch.setattr(running, "update_display", show)
    return said


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(running, "monotonic", clock)
    return clock


class Waits:
    """In the place of the event: the seconds go by in steps, while ``seconds`` last."""

    def __init__(self, clock: Clock, seconds: float, meanwhile: Any = None) -> None:
        self.clock, self.seconds, self.meanwhile = clock, seconds, meanwhile

    def wait(self, step: float) -> bool:
        self.clock.now += step
        if self.meanwhile:
            self.meanwhile()
        return self.clock.now > self.seconds


def counted(clock: Clock, seconds: float, spoken: bool = False) -> Running:
    cell = Running.__new__(Running)
    cell.began = cell.spoke = clock.now
    cell.id, cell.shown = "running-1", False

    def speak() -> None:
        cell.spoke = clock.now

    cell.over = Waits(clock, seconds, speak if spoken else None)  # type: ignore[assignment]
    cell._count()
    return cell


def test_a_short_cell_says_nothing(told: list[str], clock: Clock) -> None:
    counted(clock, 1.9)
    assert told == []


def test_a_long_one_counts_its_seconds(told: list[str], clock: Clock) -> None:
    counted(clock, 5.5)
    assert told == ["Running for 2 s …", "Running for 3 s …", "Running for 4 s …", "Running for 5 s …"]


def test_where_something_else_is_shown_it_is_silent(told: list[str], clock: Clock) -> None:
    counted(clock, 9, spoken=True)
    assert told == []


def test_in_the_end_it_says_how_long_it_took(told: list[str]) -> None:
    watch = Watch()
    watch.end()
    watch.begin()
    watch.begin()
    inner = watch.running[-1]
    inner.shown = True
    watch.end()
    watch.end()
    assert watch.running == []
    assert told == ["It ran for 0 s."]
    assert not inner.thread.is_alive()


class Shell:
    """As much of a kernel's shell as is needed to watch its cells."""

    kernel = lockstep_watch = None

    def __init__(self) -> None:
        self.events = self.display_pub = self
        self.registered: dict[str, Callable[..., Any]] = {}

    def register(self, name: str, act: Callable[..., Any]) -> None:
        self.registered[name] = act

    def register_hook(self, act: Callable[..., Any]) -> None:
        pass


def test_the_cell_that_begins_a_lesson_is_watched_too() -> None:
    """It imports torch and all figures, and was silent for nineteen seconds on a busy machine."""
    shell = Shell()
    watch(shell)
    watch(shell)
    mine: Watch = shell.lockstep_watch  # type: ignore[assignment]
    assert len(mine.running) == 1
    shell.registered["post_run_cell"](None)
    assert mine.running == []


def test_what_is_shown_counts_for_the_cell_that_runs(clock: Clock) -> None:
    watch = Watch()
    assert watch.speaks("message") == "message"
    watch.begin()
    clock.now = 7.0
    watch.speaks("message")
    assert watch.running[-1].spoke == 7.0
    watch.end()
