"""Numbers and ranks in a sentence. A learner was told of "1 messages", and of three ranks where only 2, 4, 8 exist."""

from __future__ import annotations

from lockstep.checks.case import Case
from lockstep.checks.failing_cases import explain
from lockstep.checks.wording import counted, listed, printable


def test_one_is_singular() -> None:
    assert [counted(n, "message") for n in (0, 1, 2, 2000)] == [
        "0 messages",
        "1 message",
        "2 messages",
        "2,000 messages",
    ]
    assert listed([2, 4, 8], "or") == "2, 4 or 8"
    assert str(Case(1, 0, settings={"numel": 1, "src": 0})) == "1 rank, 1 element, src=0"


def only(right: set[int], sizes: tuple[int, ...]) -> str:
    return explain([(Case(n, 0, settings={"numel": 8 * n}), n not in right) for n in sizes], lambda control: True)[0][1]


def test_a_pattern_speaks_of_the_sizes_that_were_tried() -> None:
    assert "Draw 3 ranks" in only({1, 2}, (1, 2, 3, 4, 5, 8))
    assert "Draw 4 ranks" in only({1, 2}, (1, 2, 4, 8))
    assert "right for 2, 4 and 8 ranks and wrong for 3 and 5. Is there a step" in only({1, 2, 4, 8}, (1, 2, 3, 4, 5, 8))
    assert "right for 2 and 4 ranks and wrong for 3. Is there a step" in only({1, 2, 4}, (1, 2, 3, 4))


def test_nothing_that_a_terminal_obeys_is_printable():
    assert printable("a\tb\nc") == "a\tb\nc"
    assert printable("\x1b[2J\u202e\x9b\ud800\r") == "\\x1b[2J\\u202e\\x9b\\ud800\\r"
