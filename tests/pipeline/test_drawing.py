from itertools import product
from random import Random

import pytest

from lockstep.pipeline.drawn_schedule import (
    best_slots,
    broken,
    drawing,
    idle,
    illegal,
    kept,
    missing,
    slots,
    streams_of,
    told,
    when,
)


def rows_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


GPIPE = rows_of("""
    F0 F1 .. .. B1 B0
    .. F0 F1 B1 B0 ..
""")


@pytest.mark.parametrize(
    ("p", "m", "cap", "best"), [(3, 2, 1, 12), (3, 4, 4, 12), (4, 6, 4, 18), (4, 6, 3, 20), (1, 3, 1, 6), (2, 1, 5, 4)]
)
def test_the_shortest_and_a_drawing_that_is_as_short(p: int, m: int, cap: int, best: int) -> None:
    assert best_slots(p, m, cap) == best
    rows = drawing(p, m, cap)
    assert illegal(rows, m, cap) is None
    assert slots(rows) == best


@pytest.mark.parametrize(("p", "m"), [*product((2, 3), (1, 2, 4))])
def test_the_own_drawing_is_as_short_as_any(p: int, m: int) -> None:
    for cap in range(1, m + 1):
        assert slots(drawing(p, m, cap)) == best_slots(p, m, cap)


@pytest.mark.slow
def test_the_search_finds_what_trying_every_drawing_finds() -> None:
    """Two stages, two micro-batches: all ways to fill rows of up to 6 and 8 slots."""
    for cap, best in ((1, 8), (2, 6)):
        assert best_slots(2, 2, cap) == best
        assert not any(legal_somewhere(length, cap) for length in range(4, best))
        assert legal_somewhere(best, cap)


def legal_somewhere(length: int, cap: int) -> bool:
    cells = ("F0", "B0", "F1", "B1")
    fillings = [
        [next((c for c, slot in zip(cells, at, strict=True) if slot == now), "..") for now in range(length)]
        for at in product(range(length), repeat=4)
        if len(set(at)) == 4
    ]
    able = [row for row in fillings if when(row)["F0"] < when(row)["B0"] and when(row)["F1"] < when(row)["B1"]]
    return any(illegal(rows, 2, cap) is None for rows in product(able, repeat=2))


@pytest.mark.parametrize(
    ("change", "cap", "sentence"),
    [
        ((0, 1, "F0"), 2, "rule 1, stage 0, slot 1: F0 stands in slot 0 already"),
        ((1, 2, "F2"), 2, "rule 1, stage 1, slot 2: 'F2' is none of the cells F0 to F1, B0 to B1, '..'"),
        ((1, 2, "F01"), 2, "rule 1, stage 1, slot 2: 'F01' is none of the cells"),
        ((0, 5, ".."), 2, "rule 1, stage 0: B0 is missing"),
        ((), 1, "rule 4, stage 0, slot 1: the stage keeps 2 micro-batches; the cap is 1"),
    ],
)
def test_what_is_illegal_is_told(change: tuple[int, int, str], cap: int, sentence: str) -> None:
    rows = [list(row) for row in GPIPE]
    if change:
        stage, slot, cell = change
        rows[stage][slot] = cell
    found = illegal(rows, 2, cap)
    assert found
    assert told(found).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F0 .. B0\nF0 B0 ..", "rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 stands in slot 0"),
        (".. F0 B0\nF0 B0 ..", "rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 stands in slot 1"),
        ("F0 B0 ..\n.. F0 B0", "rule 3, stage 0, slot 1: B0 stands there, and B0 of stage 1 stands in slot 2"),
        ("F0 .. .. B0\n.. B0 F0", "rule 3, stage 1, slot 1: B0 stands there, and F0 of stage 1 stands in slot 2"),
    ],
)
def test_what_comes_too_early_is_told(text: str, sentence: str) -> None:
    found = illegal(rows_of(text), 1, 1)
    assert found
    assert told(found).startswith(sentence)


def test_messages_arrive_in_one_order() -> None:
    rows = rows_of("F0 F1 .. .. .. B0 B1\n.. .. F1 F0 B0 B1 ..")
    found = illegal(rows, 2, 2)
    assert found
    assert told(found) == "rule 5, stage 1, slot 2: F1 stands where stage 0 has F0: F in another order"
    assert illegal(GPIPE, 2, 2) is None, "B may be the other way round on all stages"


def test_counts_of_a_drawing() -> None:
    rows = [["", "F0", "", "", "B0", "..", ""], ["..", "..", "F0", "B0"]]
    assert slots(rows) == 5
    assert idle(rows) == 1 - 4 / 10
    assert kept(rows) == [[0, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1]]
    assert illegal(rows, 1, 1) is None
    assert slots([[], []]) == idle([[], []]) == 0


def test_messages_go_after_the_slot_in_which_they_were_made() -> None:
    first, second = streams_of(GPIPE)
    assert first[:4] == [("F", 0), ("send activation", 0), ("F", 1), ("send activation", 1)]
    assert second[:3] == [("receive activation", 0), ("F", 0), ("receive activation", 1)]
    dice = Random(3)
    p, m = dice.randint(2, 5), dice.randint(1, 6)
    for stream in streams_of(drawing(p, m, 2)):
        assert sum(kind.startswith("send") for kind, _ in stream) in (m, 2 * m)


@pytest.mark.parametrize(
    ("text", "cap", "sentences"),
    [
        ("", 1, []),
        ("F0\n.. ..", 1, []),
        ("F0 F1\n..", 2, []),
        (".. B1\n..", 1, []),
        ("F0 .. F1 .. .. ..\nF0", 1, ["rule 2, stage 1, slot 0: F0 stands there, and F0 of stage 0 stands in slot 0"]),
        ("B0 F0\n..", 1, ["rule 3, stage 0, slot 0: B0 stands there, and F0 of stage 0 stands in slot 1"]),
        ("..\n.. B0 F0", 1, ["rule 3, stage 1, slot 1"]),
        ("F0\n..\nF0", 1, ["rule 2, stage 2, slot 0: F0 stands there, and F0 of stage 0 stands in slot 0"]),
        ("F0 F1 F1\n.. F9", 3, ["rule 1, stage 0, slot 2: F1 stands", "rule 1, stage 1, slot 1: 'F9' is none"]),
        ("F0 F1\n..", 1, ["rule 4, stage 0, slot 1: the stage keeps 2 micro-batches; the cap is 1"]),
        ("F0 .. F1 .. F2\n..", 1, []),
        ("F0 F1 .. F2 F3\n..", 2, ["rule 4, stage 0, slot 4: the stage keeps 3 micro-batches"]),
        ("F0 F1 F2 .. B0 B1\n..", 1, ["rule 4, stage 0, slot 1: the stage keeps 2", "rule 4, stage 0, slot 2"]),
        (".. .. .. B0 B1\n..", 1, ["rule 4, stage 0, slot 2: the stage keeps 2"]),
        ("F0 F1 F2\n.. .. .. F2 F0", 3, ["rule 5, stage 1, slot 3: F2 stands where stage 0 has F0"]),
        ("F1\n.. F0 F1\n.. .. .. F1 F0", 3, ["rule 5, stage 2, slot 3: F1 stands where stage 1 has F0"]),
    ],
)  # fmt: skip
def test_a_drawing_in_the_making_breaks_only_what_its_cells_break(text: str, cap: int, sentences: list[str]) -> None:
    found = [told(place) for place in broken([line.split() for line in text.splitlines()], 4, cap)]
    assert len(found) == len(sentences), found
    for said, sentence in zip(found, sentences, strict=True):
        assert said.startswith(sentence)


def test_no_part_of_a_legal_drawing_breaks_a_rule() -> None:
    dice = Random(5)
    for p, m, cap in ((3, 2, 1), (3, 4, 4), (4, 6, 3), (4, 6, 4)):
        whole = drawing(p, m, cap)
        for share in (0.2, 0.5, 0.9):
            part = [[cell if dice.random() < share else ".." for cell in row] for row in whole]
            assert list(broken(part, m, cap)) == []
            assert all(
                few <= many for of in zip(kept(part), kept(whole), strict=True) for few, many in zip(*of, strict=True)
            )


def test_what_is_missing_is_told() -> None:
    assert missing(["F1", "..", "B0"], 2) == ["F0", "B1"]
    assert missing(GPIPE[1], 2) == []
