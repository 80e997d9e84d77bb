"""The learner's lines are judged in one sentence, whatever they do."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from lockstep.lessons import turn_judge as judging
from lockstep.lessons.behind import TurnSource, load
from lockstep.lessons.turn_judge import Task, judge, same, task

SOURCE = TurnSource(
    "def half(n):\n    return n // 2\n",
    "",
    "cases = [(0,), (1,), (2,), (7,)]\n"
    "wrong = {lambda n: n / 2: 'A half rank is none.', lambda n: 7 // n: 'The other way round.'}\n"
    "well = 'It rounds down.'\n",
)


@pytest.fixture
def half() -> Task:
    return task("half", SOURCE)


def stub(n: int) -> Any: ...


def with_dots(n: int) -> Any:
    return ...


def to_do(n: int) -> Any:
    raise NotImplementedError


def no_return(n: int) -> Any:
    n // 2


def endless(n: int) -> Any:
    while n:
        pass
    return 0


def swallows(n: int) -> Any:
    while True:
        try:
            n += 1
        except:  # noqa: E722
            return n


def deep(n: int) -> Any:
    return deep(n)


SAID: dict[str, tuple[Callable[..., Any], str]] = {
    "right": (lambda n: n >> 1, "Right. It rounds down. (4 cases)"),
    "a known mistake": (lambda n: n / 2, "Not yet: half(n=1) gives 0.5; it should be 0. A half rank is none."),
    "an unknown one": (lambda n: n, "Not yet: half(n=1) gives 1; it should be 0."),
    "a known crash": (lambda n: 7 // n, "Not yet: half(n=0) raised ZeroDivisionError: "),
    "nothing": (no_return, "Not yet: half(n=0) gives nothing. Does every way through it end with return?"),
    "too few parameters": (lambda: 1, "Not yet: half(n=0) raised TypeError: "),
    "too deep": (deep, "Not yet: half(n=0) raised RecursionError: maximum recursion depth exceeded"),
    "a stub": (stub, "Not written yet. Replace the ... by your line, and run the cell."),
    "dots": (with_dots, "Not written yet. Replace the ... by your line, and run the cell."),
    "to do": (to_do, "Not written yet. Replace the ... by your line, and run the cell."),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_is_said(half: Task, kind: str) -> None:
    function, said = SAID[kind]
    assert judge(function, half).said.startswith(said)


def test_a_crash_of_a_known_mistake_has_its_sentence_too(half: Task) -> None:
    assert judge(lambda n: 7 // n, half).said.endswith("The other way round.")


@pytest.mark.parametrize("function", [endless, swallows])
def test_an_endless_loop_ends(half: Task, function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare except catches the first alarm, and so there is another."""
    monkeypatch.setattr(judging, "SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    verdict = judge(function, half)
    assert verdict.kind == "wrong"
    assert signal.getsignal(signal.SIGALRM) is before
    if function is endless:
        assert "half(n=1) did not come to an end within 0.2 seconds. Either a loop in it never ends, or" in verdict.said


def test_the_learners_function_cannot_change_the_cases() -> None:
    source = TurnSource("def first(xs):\n    return xs[0]\n", "", "cases = [([1, 2],)]\nwrong = {}\nwell = ''\n")
    author = task("first", source)
    assert judge(lambda xs: xs.pop(0), author).kind == "right"
    assert judge(lambda xs: xs.pop(0), author).kind == "right"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (3, 3.0, True), (0.1 + 0.2, 0.3, True), (1, 2, False), ((1, 2), [1, 2], True), ([1], [1, 2], False),
        ({"a": 1.0}, {"a": 1}, True), ({"a": 1}, {"b": 1}, False), ("a", "a", True), ("1", 1, False), (None, 0, False),
        (torch.ones(2), torch.ones(2), True), (torch.ones(2), torch.ones(3), False), (np.ones(2), torch.ones(2), True),
        (1, np.int64(1), True), (np.float64(2), 2, True), (torch.tensor(2), 2, False), (float("nan"), 1.0, False),
    ],
)  # fmt: skip
def test_what_counts_as_the_same(one: Any, other: Any, alike: bool) -> None:
    assert same(other, one) == alike


def test_each_known_mistake_of_the_sample_is_told_its_own_sentence() -> None:
    author = task("tree_rounds", load("acting").turns["tree_rounds"])
    for program, sentence in author.wrong:
        assert judge(program, author).said.endswith(sentence)
    assert judge(author.right, author).said == "Right: ⌈log₂ K⌉ rounds. (10 cases)"


def test_a_dict_is_told_in_its_own_order() -> None:
    """`ready_now(counts={'a': 2, 'b': 1, 'c': 2}, …)` "should be ['c', 'a']": the case was {"c": …, "a": …, "b": …}."""
    cases = 'cases = [({"c": 2, "a": 2},)] * 8\nwrong = {}\nwell = ""\n'
    keys = task("keys", TurnSource("def keys(counts):\n    return list(counts)\n", "", cases))
    assert "keys(counts={'c': 2, 'a': 2}) gives ['a', 'c']; it should be ['c', 'a']" in judge(sorted, keys).said
    assert len(judging._SHORT.repr({n: n for n in range(13)}).split(", ")) == 13
