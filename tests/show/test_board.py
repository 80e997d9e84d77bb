"""The board, without a browser: what stands on it, what it says of that, and what it hands on."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from lockstep.errors import UsageError
from lockstep.pipeline.drawn_schedule import drawing, illegal
from lockstep.show import board
from lockstep.show.drawing_board import MOST_SLOTS, Board, DrawingBoard

SHORT = "F0 F1 .. B0 .. B1\n.. F0 B0 F1 B1 .."


def send(shown: DrawingBoard, **content: Any) -> dict[str, Any]:
    """What the page sends, and what it gets."""
    shown._handle_custom_msg(content, [])
    return dict(shown.get_state()["drawn"])


def columns(line: str) -> list[tuple[int, str]]:
    return [(found.start(), found[0]) for found in re.finditer(r"\S+", line)]


# ---- the model


def test_an_empty_board_has_a_column_more_than_the_shortest_drawing() -> None:
    empty = Board.of(4, 6, 3)
    assert {len(row) for row in empty.cells} == {21}
    assert (empty.rows, empty.text, empty.slots, empty.kept) == ([[], [], [], []], "\n\n\n", 0, [0, 0, 0, 0])
    assert empty.counts() == "No slot is used so far; the shortest legal drawing takes 20."
    assert empty.told() == "No rule is broken so far. 0 of 48 passes are placed."


def test_what_is_placed_is_counted() -> None:
    begun = Board.of(2, 2, 2).put(0, 0, "F0").put(1, 1, "F0").put(1, 2, "B0")
    assert begun.rows == [["F0", "..", ".."], ["..", "F0", "B0"]]
    assert begun.text == "F0 .. ..\n.. F0 B0"
    assert (
        begun.counts() == "3 slots so far; the shortest legal drawing takes 6. 3 of 6 cells are idle: a bubble of 50%."
    )
    assert begun.missing == [["B0", "F1", "B1"], ["F1", "B1"]]
    assert begun.kept == [1, 1]
    assert begun.told() == "No rule is broken so far. 3 of 8 passes are placed."
    assert begun.put(0, 0, "..").rows == [["..", "..", ".."], ["..", "F0", "B0"]]


def test_a_letter_alone_takes_the_next_number() -> None:
    row = Board.of(1, 2, 2, ".. F0")
    assert row.put(0, 2, "F").put(0, 3, "B").rows == [["..", "F0", "F1", "B0"]]
    full = Board.of(1, 1, 1, "F0 B0")
    assert full.put(0, 2, "F") == full
    assert full.put(0, 0, "F") == full


def test_the_last_column_is_always_empty() -> None:
    wide = Board.of(1, 1, 1).put(0, 2, "F0")
    assert len(wide.cells[0]) == 4
    assert len(wide.put(0, 3, "B0").cells[0]) == 5
    assert len(wide.put(0, 2, "..").cells[0]) == 3


def test_a_rule_that_is_broken_is_told_in_words_and_the_newest_first() -> None:
    once = Board.of(2, 2, 1).put(0, 0, "F0").put(1, 0, "F0")
    why = "rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 stands in slot 0: F0 has to be later"
    assert once.marks == {(1, 0): why}
    assert once.told() == f"R{why[1:]}."
    twice = once.put(0, 1, "F1")
    assert twice.told(once) == (
        "Rule 4, stage 0, slot 1: the stage keeps 2 micro-batches; the cap is 1. 1 more cell is marked."
    )
    assert twice.told().startswith("Rule 2")
    assert twice.put(1, 1, "F7").told(twice) == (
        "Rule 1, stage 1, slot 1: 'F7' is none of the cells F0 to F1, B0 to B1, '..'. 2 more cells are marked."
    )


def test_a_legal_drawing_is_beside_the_shortest() -> None:
    short = Board.of(2, 2, 2, SHORT)
    assert short.legal
    assert short.told() == "The drawing is legal. It takes 6 slots; none takes fewer."
    assert short.counts().endswith("4 of 12 cells are idle: a bubble of 33%.")
    long = Board.of(2, 2, 2, [["F0", "", "", "B0", "F1", "", "", "B1"], ["", "F0", "B0", "", "", "F1", "B1"]])
    assert long.told() == "The drawing is legal. It takes 8 slots; 6 are possible."


@pytest.mark.parametrize(("p", "m", "cap"), [(3, 2, 1), (3, 4, 4), (4, 6, 4), (4, 6, 3), (1, 12, 2)])
def test_the_text_is_an_answer_to_the_exercise(p: int, m: int, cap: int) -> None:
    """It is split as the exercise's stub does it."""
    shown = Board.of(p, m, cap, drawing(p, m, cap))
    rows = [line.split() for line in shown.text.strip().splitlines()]
    assert illegal(rows, m, cap) is None
    assert rows == shown.rows
    assert Board.of(p, m, cap, shown.text) == shown
    starts = [{at for at, cell in columns(line) if cell != ".."} for line in shown.text.splitlines()]
    wide = max(len(cell) for row in rows for cell in row) + 1
    assert all(at % wide == 0 for of_row in starts for at in of_row), "slots stand below each other"


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ((0, 1, 1), "up to 8 stages"), ((2, 0, 1), "up to 8 stages"), ((2, 2, 0), "a cap of 1"),
        ((8, 16, 4), "takes too long"), ((2, 2, 2, "F0"), "1 row, the board 2 stages"),
        ((2, 2, 2, [["F0"], "F0"]), "Row 1 is no list"), ((1, 2, 2, [[0]]), "Row 0 is no list"),
        ((1, 1, 1, [[".."] * (MOST_SLOTS + 1)]), f"up to {MOST_SLOTS} slots"),
    ],
)  # fmt: skip
def test_what_is_no_board_is_refused(bad: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        board(*bad)


def test_cells_that_are_none_stay_and_are_marked() -> None:
    odd = Board.of(1, 2, 2, "F0 hello B0")
    assert odd.rows == [["F0", "hello", "B0"]]
    assert "'hello' is none of the cells" in odd.told()


# ---- the widget


def test_the_page_places_moves_and_clears() -> None:
    shown = board(2, 2, 2)
    drawn = send(shown, put=[0, 0, "F0"])
    assert drawn["cells"][0][0] == "F0"
    assert drawn["missing"][0] == ["B0", "F1", "B1"]
    assert drawn["message"] == "No rule is broken so far. 1 of 8 passes are placed."
    drawn = send(shown, move=[0, 0, 1, 3])
    assert (shown.rows, shown.text) == (
        [["..", "..", "..", ".."], ["..", "..", "..", "F0"]],
        ".. .. .. ..\n.. .. .. F0",
    )
    drawn = send(shown, put=[0, 3, "F0"])
    assert drawn["marks"][1][3].startswith("rule 2, stage 1, slot 3")
    assert drawn["message"].startswith("Rule 2, stage 1, slot 3: F0 stands there, and F0 of stage 0")
    assert drawn["kept"] == [1, 1]
    assert send(shown, put=[1, 3, ".."])["message"].startswith("No rule is broken so far.")


@pytest.mark.parametrize(
    "junk",
    [{}, {"put": [0, 99, "F0"]}, {"put": [0, 0]}, {"put": ["0", 0, "F0"]}, {"move": [0, 0, 9, 9]}, {"train": 1.5}],
)
def test_messages_without_sense_are_ignored(junk: dict[str, Any]) -> None:
    shown = board(2, 2, 2, SHORT)
    send(shown, **junk)
    assert shown.text == SHORT
    assert "losses" not in shown.drawn


def test_only_a_complete_and_legal_drawing_trains() -> None:
    shown = board(2, 1, 1)
    assert send(shown, train=True)["message"] == "It can't train yet. Stage 0 still needs F0, B0."
    shown.put(0, 0, "F0")
    shown.put(1, 0, "F0")
    assert send(shown, train=True)["message"].startswith("It can't train yet. Rule 2, stage 1, slot 0")
    assert "picture" not in shown.drawn


def test_a_drawing_trains_what_one_rank_trains_until_it_is_changed() -> None:
    shown = board(2, 2, 2, SHORT)
    drawn = send(shown, train=True)
    assert drawn["message"].startswith("The drawing trains a model: on 2 ranks the loss went from ")
    assert "one rank with the whole model" in drawn["message"]
    assert len(drawn["losses"]) == 4
    assert all(here == alone for here, alone in drawn["losses"]), "to four digits"
    assert ElementTree.fromstring(drawn["picture"]).tag.endswith("svg")
    assert "picture" not in send(shown, put=[0, 0, ".."])


@pytest.mark.parametrize("rows", [None, SHORT, "F0 .. F1\nF0", " ".join([".."] * 60 + ["F0"]) + "\n.."])
def test_the_still_picture_says_what_stands_there(rows: str | None) -> None:
    shown = board(2, 2, 2, rows)
    root = ElementTree.fromstring(shown.svg())
    words = "".join(root.itertext())
    for cell in {cell for row in shown.rows for cell in row} - {".."}:
        assert f">{cell}<" in shown.svg()
    assert shown.model.told().split()[-1] in words
    assert ("url(#ls-hatch)" in shown.svg()) == bool(shown.model.marks)
    assert "show.board(2, 2, 2, rows=...)" in shown.caption()
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(box.get("x", 0)) + float(box.get("width", 0)) <= width
        assert float(box.get("y", 0)) + float(box.get("height", 0)) <= height
