"""What the board knows of a class, what it refuses, and what it remembers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lockstep.classroom import reception as doors
from lockstep.classroom.journal import Journal
from lockstep.classroom.learners import LEAST, MOST_NAMED, Course, Learners
from lockstep.classroom.page import page
from lockstep.classroom.reception import AT_ONCE, Full, Reception, TooMany
from lockstep.errors import UsageError
from lockstep.reports.report import (
    MOST_BYTES,
    MOST_RESULTS,
    Answers,
    Refused,
    Report,
    Result,
    read_answers,
    read_leave,
    read_report,
)  # fmt: skip

AMDAHL, RING = "why_parallel.amdahl", "communication.ring_all_reduce"
COURSE = Course.here()


def who(n: int) -> str:
    return f"{n:032x}"


def passed(number: int, exercise: str) -> Result:
    return Result(number, exercise, float(COURSE.exercises[exercise].points))


class Room:
    """A board on a file, with a clock that stands until it is moved."""

    def __init__(self, path: Path, **given: int) -> None:
        self.now = 1000.0
        self.journal = Journal(path)
        self.learners = Learners(COURSE)
        self.journal.replay(self.learners)
        self.reception = Reception(self.learners, self.journal, clock=lambda: self.now, **given)

    def take(self, learner: int, *results: Result, nickname: str = "") -> dict[str, object]:
        return self.reception.report(Report(who(learner), nickname, results))

    def told(self) -> dict:
        return self.learners.told(self.now)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "board.jsonl")


def unit(told: dict, number: int) -> dict:
    return next(row for row in told["units"] if row["number"] == number)


def test_units_count_who_has_begun_and_who_has_passed_all_core_exercises(room: Room) -> None:
    core = [e.id for e in COURSE.exercises.values() if e.topic == "why_parallel" and e.core]
    room.take(1, *(passed(n, id) for n, id in enumerate(core, 1)))
    room.take(2, passed(1, core[0]))
    room.take(3)
    told = room.told()
    assert (told["learners"], told["active"]) == (3, 3)
    assert (unit(told, 0)["done"], unit(told, 0)["begun"]) == (1, 1)
    assert [e["passed"] for e in unit(told, 0)["exercises"]] == [2] + [1] * (len(core) - 1)
    assert len(told["units"]) == 14


def test_who_is_silent_for_long_is_not_active(room: Room) -> None:
    room.take(1)
    room.now += 601
    room.take(2)
    assert (room.told()["learners"], room.told()["active"]) == (2, 1)


def test_stuck_is_whose_last_check_was_not_passed_and_nobody_alone(room: Room) -> None:
    for n in range(LEAST - 1):
        room.take(n, Result(1, RING, 0.0, "whole-tensor"))
    assert room.told()["stuck"] == []
    room.take(9, Result(1, RING, 0.0, "whole-tensor"))
    (row,) = room.told()["stuck"]
    assert (row["learners"], row["words"], row["unit"]) == (LEAST, "whole tensor", 4)
    room.take(9, passed(2, RING))
    assert room.told()["stuck"] == []


def test_what_says_little_comes_after_the_others(room: Room) -> None:
    for n in range(2 * LEAST):
        room.take(n, Result(1, AMDAHL, 0.0, "wrong-values"))
    for n in range(LEAST):
        room.take(n, Result(2, RING, 0.0, "crashed:Deadlock"))
    assert [row["words"] for row in room.told()["stuck"]] == ["ranks wait for each other", "wrong values"]


def test_a_pass_stays_whatever_is_tried_later(room: Room) -> None:
    for n in range(LEAST):
        room.take(n, passed(1, AMDAHL), Result(2, AMDAHL, 0.0, "linear"))
    told = room.told()
    assert told["stuck"] == []
    assert unit(told, 0)["exercises"][0]["passed"] == LEAST


def test_names_are_those_that_were_chosen_and_may_be_hidden(room: Room) -> None:
    room.take(1, passed(1, AMDAHL), nickname="Ada")
    room.take(2)
    assert room.told()["named"] == [{"nickname": "Ada", "passed": 1}]
    assert room.learners.told(room.now, names=False)["named"] == []
    assert who(1) not in json.dumps(room.told())


def test_the_page_has_room_for_the_nicknames_of_those_who_reported_last(room: Room) -> None:
    for n in range(MOST_NAMED + 3):
        room.now += 1
        room.take(n, nickname=f"n{n:02d}")
    named = [row["nickname"] for row in room.told()["named"]]
    assert named == [f"n{n:02d}" for n in range(3, MOST_NAMED + 3)]


def test_a_result_counts_once_however_often_it_comes(room: Room) -> None:
    for _ in range(3):
        assert room.take(1, Result(1, AMDAHL, 0.0, "linear"))["received"] == 1
    assert room.take(1, Result(1, AMDAHL, 0.0, "linear"), passed(2, AMDAHL))["received"] == 2
    assert room.learners.by_id[who(1)].works[AMDAHL].tries == 2


@pytest.mark.parametrize(
    "result",
    [
        Result(1, "why_parallel.no_such", 0.0),
        Result(1, AMDAHL, 99.0),
        Result(1, AMDAHL, 0.0, "a-name-that-is-shown-to-the-room"),
        Result(1, AMDAHL, 0.0, "whole-tensor"),
    ],
)
def test_what_the_course_does_not_know_is_not_noted(room: Room, result: Result) -> None:
    assert room.take(1, result) == {"received": 1, "refused": [1]}
    assert result.misconception not in room.journal.path.read_text() or not result.misconception
    assert room.learners.by_id[who(1)].works == {}


GOOD = {"version": 1, "learner": who(1), "nickname": "", "results": [[1, AMDAHL, 1.0, ""]]}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\xff\xfe", b"null", b"[]", b"{}", b"[" * 30_000, b'{"version":' + b"1" * 5000 + b"}",
        *(json.dumps(GOOD | change).encode() for change in (
            {"more": 1}, {"version": 2}, {"version": True}, {"version": 1.0}, {"learner": "0" * 31}, {"learner": None},
            {"learner": "G" * 32}, {"nickname": "<script>"}, {"nickname": 3}, {"nickname": "a" * 21},
            {"results": {}}, {"results": [1]}, {"results": [[1, AMDAHL, 1.0]]},
            {"results": [[0, AMDAHL, 1.0, ""]]}, {"results": [[True, AMDAHL, 1.0, ""]]},
            {"results": [[1.0, AMDAHL, 1.0, ""]]}, {"results": [[10**9, AMDAHL, 1.0, ""]]},
            {"results": [[1, "../../etc/passwd", 1.0, ""]]}, {"results": [[1, 7, 1.0, ""]]},
            {"results": [[1, AMDAHL, "1", ""]]}, {"results": [[1, AMDAHL, -1, ""]]},
            {"results": [[1, AMDAHL, True, ""]]}, {"results": [[1, AMDAHL, 1e999, ""]]},
            {"results": [[1, AMDAHL, 1.0, "<img src=x>"]]}, {"results": [[1, AMDAHL, 1.0, "x" * 81]]},
            {"results": [[2, AMDAHL, 1.0, ""], [1, AMDAHL, 1.0, ""]]},
            {"results": [[1, AMDAHL, 1.0, ""]] * 2},
            {"results": [[n, AMDAHL, 1.0, ""] for n in range(1, MOST_RESULTS + 2)]},
        )),
        json.dumps(GOOD).replace("1.0", "NaN").encode(),
        json.dumps(GOOD).replace('"nickname"', '"version": 1, "nickname"').encode(),
        json.dumps(GOOD).encode() + b" " * MOST_BYTES,
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused_without_repeating_it(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        read_report(body)
    assert "<" not in str(refused.value)
    for read in (read_answers, read_leave):
        with pytest.raises(Refused):
            read(body)


def test_a_report_is_read_as_it_was_written() -> None:
    report = Report(who(7), "Grace H.", (Result(1, AMDAHL, 0.5, "linear"), passed(3, RING)))
    assert read_report(report.written()) == report
    answers = Answers(who(7), "after", "abcd-abcdabc")
    assert read_answers(answers.written()) == answers


@pytest.mark.parametrize("answers", ["abcd", "e" * 12, "a" * 13, 12, ["a"] * 12])
def test_answers_are_twelve_letters(answers: object) -> None:
    told = {"version": 1, "learner": who(1), "form": "before", "answers": answers}
    with pytest.raises(Refused):
        read_answers(json.dumps(told).encode())


def test_who_reports_without_end_waits_and_the_others_do_not(room: Room) -> None:
    for _ in range(AT_ONCE):
        room.take(1)
    with pytest.raises(TooMany):
        room.take(1)
    room.take(2)
    room.now += 1
    room.take(1)


def test_a_learner_has_so_many_results_and_no_more(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_RESULTS", 3)
    room.take(1, *(Result(n, AMDAHL, 0.0) for n in (1, 2, 3)))
    with pytest.raises(TooMany):
        room.take(1, Result(4, AMDAHL, 0.0))
    room.take(2, Result(4, AMDAHL, 0.0))


def test_the_board_takes_so_many_learners_even_if_they_come_and_go(tmp_path: Path) -> None:
    room = Room(tmp_path / "board.jsonl", most=2)
    room.take(1)
    room.take(2)
    with pytest.raises(Full):
        room.take(3)
    for coming in range(3, doors.COMING_AND_GOING * 2 + 1):
        room.reception.leave(who(coming - 1))
        room.take(coming)
    room.reception.leave(who(2 * doors.COMING_AND_GOING))
    with pytest.raises(Full):
        room.take(99)


def test_answers_count_once(room: Room) -> None:
    room.reception.answers(Answers(who(1), "before", "a" * 12))
    with pytest.raises(Refused, match="the first answers count"):
        room.reception.answers(Answers(who(1), "before", "b" * 12))
    room.reception.answers(Answers(who(1), "after", "c" * 12))
    assert room.learners.by_id[who(1)].answers == {"before": "a" * 12, "after": "c" * 12}
    assert room.told()["learners"] == 0  # who answers questions has not joined


def test_a_restart_knows_all_and_has_the_same_token(tmp_path: Path) -> None:
    first = Room(tmp_path / "board.jsonl")
    first.take(1, Result(1, RING, 0.5, "whole-tensor"), passed(2, AMDAHL), nickname="Zoë")
    first.take(2, Result(1, RING, 0.0, ""))
    first.reception.answers(Answers(who(1), "before", "abcdabcdabc-"))
    told = first.told()
    first.journal.close()
    again = Room(tmp_path / "board.jsonl")
    assert again.told() == told
    assert again.journal.token == first.journal.token
    assert again.learners.by_id == first.learners.by_id


def test_who_has_left_is_forgotten_in_the_file_too(tmp_path: Path) -> None:
    path = tmp_path / "board.jsonl"
    first = Room(path)
    first.take(1, passed(1, AMDAHL), nickname="Ada")
    first.take(2, passed(1, AMDAHL), nickname="Grace")
    first.reception.leave(who(1))
    assert first.told()["learners"] == 1
    first.take(3)
    first.reception.leave(who(3))
    first.take(3, passed(1, AMDAHL), nickname="Back")
    first.journal.close()
    again = Room(path)
    assert "Ada" not in path.read_text()
    again.take(2, passed(2, RING), nickname="Grace")
    again.journal.close()
    assert [row["nickname"] for row in Room(path).told()["named"]] == ["Back", "Grace"]


def test_a_line_that_was_cut_off_is_taken_away_and_others_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "board.jsonl"
    first = Room(path)
    first.take(1, passed(1, AMDAHL))
    first.journal.close()
    with path.open("a") as file:
        file.write('nonsense\n{"learner": 3}\n[]\n{"at": 1, "learner": "' + who(2))
    again = Room(path)
    assert again.journal.unreadable == 3
    assert list(again.learners.by_id) == [who(1)]
    again.take(2, passed(1, AMDAHL))
    again.journal.close()
    assert sorted(Room(path).learners.by_id) == [who(1), who(2)]


def test_a_full_disk_receives_nothing_and_spoils_nothing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.take(1, passed(1, AMDAHL))
    before = room.journal.path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:20]))
    with pytest.raises(OSError, match="no room"):
        room.take(2, passed(1, AMDAHL))
    assert room.journal.path.read_bytes() == before
    assert who(2) not in room.learners.by_id
    monkeypatch.undo()
    room.take(2, passed(1, AMDAHL))


def test_a_file_has_one_board_and_is_a_boards(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "board.jsonl")
    with pytest.raises(UsageError, match="Another board has"):
        Journal(tmp_path / "board.jsonl")
    journal.close()
    for text in ("my notes\n", "my notes, and no end of line"):
        (tmp_path / "notes.txt").write_text(text)
        with pytest.raises(UsageError, match="is no board's file"):
            Journal(tmp_path / "notes.txt")
        assert (tmp_path / "notes.txt").read_text() == text
    with pytest.raises(UsageError, match="cannot keep"):
        Journal(tmp_path / "notes.txt" / "below")


def test_the_page_asks_nobody_else_and_closes_no_script() -> None:
    html, policy = page({"join": "http://h/?token=</script><b>"})
    assert "</script><b>" not in html
    assert "@" not in html.replace("@media", "")
    assert not [word for word in ("https:", "src=", "innerHTML", "@import") if word in html]
    assert "default-src 'none'" in policy
