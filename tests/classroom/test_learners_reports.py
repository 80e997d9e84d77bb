"""A learner's side of the board: nothing without joining, nothing lost while it is away, no check that waits."""

from __future__ import annotations

import json
import socket
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from lockstep import check, progress, reports
from lockstep.checks.known import known_answers
from lockstep.checks.listing import listed
from lockstep.checks.misconceptions import GENERAL, first_named, named, words
from lockstep.checks.register import find
from lockstep.cli import main
from lockstep.errors import UsageError
from lockstep.reports import membership, sender
from lockstep.reports.posting import post
from lockstep.reports.report import MOST_RESULTS, read_report

AMDAHL = "why_parallel.amdahl"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


class Board(HTTPServer):
    """Notes what it is sent, and answers with ``status``."""

    def __init__(self) -> None:
        self.status, self.got, self.heads = 200, [], []  # type: ignore[var-annotated]
        super().__init__(("127.0.0.1", 0), Answering)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/?token=abc"

    @property
    def numbers(self) -> list[int]:
        return [result.number for body in self.got for result in read_report(body).results]


class Answering(BaseHTTPRequestHandler):
    server: Board

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heads.append(dict(self.headers))
        if self.server.status == 200:
            self.server.got.append(body)
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def board() -> Iterator[Board]:
    with Board() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def linear(p: float, s: int) -> float:
    return float(s)


def test_who_has_not_joined_sends_and_keeps_nothing(home: Path) -> None:
    check(AMDAHL, linear)
    assert not reports.has_joined()
    assert [path.name for path in home.iterdir() if path.name.startswith("board")] == []


def test_a_check_tells_exercise_points_and_misconception_and_nothing_else(board: Board) -> None:
    reports.join(board.address)
    check(AMDAHL, linear)
    sender.wait_until_idle(30)
    (body,) = board.got
    mine = reports.joined()
    assert json.loads(body) == {
        "version": 1, "learner": mine.learner, "nickname": "", "results": [[1, AMDAHL, 0.0, "linear"]]
    }  # fmt: skip
    assert mine.unsent == ()
    assert board.heads[0]["Authorization"] == "token abc"


def test_the_membership_is_its_owners_alone(home: Path) -> None:
    """It holds the board's token."""
    reports.join("http://127.0.0.1:1/?token=abc")
    assert stat.S_IMODE((home / "board.json").stat().st_mode) == 0o600


def test_what_the_board_misses_goes_with_the_next_result(board: Board) -> None:
    reports.join(board.address, "Ada")
    board.status = 503
    for points in (0.0, 1.0):
        sender.after_check(AMDAHL, points, "")
        sender.wait_until_idle(30)
    assert [r.number for r in reports.joined().unsent] == [1, 2]
    board.status = 200
    sender.after_check(AMDAHL, 1.0, "")
    sender.wait_until_idle(30)
    assert board.numbers == [1, 2, 3]
    assert reports.joined().unsent == ()


def test_a_board_that_is_silent_holds_no_check_up() -> None:
    """It accepts a connection, and never answers: the check returns while the thread still waits."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        reports.join(f"http://127.0.0.1:{silent.getsockname()[1]}/?token=abc")
        sender.after_check(AMDAHL, 1.0, "")
        assert sender._thread._running is not None
        assert sender._thread._running.is_alive()
        assert len(reports.joined().unsent) == 1
        sender.wait_until_idle(30)
    assert len(reports.joined().unsent) == 1


def test_a_report_that_can_never_be_taken_is_not_sent_for_ever(board: Board) -> None:
    reports.join(board.address)
    board.status = 400
    sender.after_check(AMDAHL, 1.0, "")
    sender.wait_until_idle(30)
    assert reports.joined().unsent == ()


def test_the_token_goes_to_no_other_address(board: Board) -> None:
    joined = reports.join(board.address)
    board.status = 302
    assert post(joined, "report", joined.report.written()).status == 302
    assert len(board.heads) == 1


def test_the_hubs_token_goes_to_the_hubs_board_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
    monkeypatch.setenv("LOCKSTEP_BOARD", "http://hub:8000/services/board/")
    assert reports.join("http://hub:8000/services/board/").credential == "secret"
    assert reports.join("http://other:8000/services/board/?token=x").credential == "x"
    with pytest.raises(UsageError, match="no token"):
        reports.join("http://other:8000/services/board/")
    monkeypatch.setenv("LOCKSTEP_BOARD", "http://another:1/")
    assert membership.Membership("http://hub:8000/services/board/", "", "0" * 32).credential == ""


def test_whoever_joins_late_brings_what_is_on_record_and_in_parts(board: Board) -> None:
    for n in range(MOST_RESULTS + 5):
        progress.record_score(f"averages.mean_{n}", 1, 2, "wrong")
    reports.join(board.address)
    sender.send_all()
    assert board.numbers == list(range(1, MOST_RESULTS + 6))
    assert len(board.got) == 2


def test_joining_once_more_changes_the_nickname_and_sends_nothing_twice(board: Board) -> None:
    first = reports.join(board.address)
    sender.after_check(AMDAHL, 1.0, "")
    sender.wait_until_idle(30)
    again = reports.join(board.address, "Ada")
    assert (again.learner, again.next, again.nickname) == (first.learner, 2, "Ada")


@pytest.mark.parametrize("name", ["<b>", "a" * 21, "-", " a", "a\u202eb", "a\nb", "_x_"])
def test_a_nickname_is_something_that_can_be_shown(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be shown"):
        reports.join("http://127.0.0.1:1/?token=abc", name)


@pytest.mark.parametrize("address", ["", "127.0.0.1:8650", "file:///etc/passwd?token=a", "http://a:b@c/?token=d",
                                     "http://[::1/?token=a", "http://c:99999/?token=d"])  # fmt: skip
def test_an_address_is_a_boards(address: str) -> None:
    with pytest.raises(UsageError, match="address of a board"):
        reports.join(address)


def test_a_broken_membership_sends_nothing_and_breaks_no_check(home: Path) -> None:
    reports.join("http://127.0.0.1:1/?token=abc")
    (home / "board.json").write_text('{"url": 3}')
    assert reports.joined() is None
    assert check(AMDAHL, linear) == 0


def test_under_autograde_nothing_is_told(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    reports.join(board.address)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check(AMDAHL, linear)
    sender.wait_until_idle(30)
    assert reports.joined().next == 1


def test_the_command_joins_says_what_is_sent_and_leaves(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", "--status"]) == 0
    assert main(["board", "--join", board.address, "--nickname", "Ada"]) == 0
    assert main(["board", "--status"]) == 0
    assert main(["board", "--leave"]) == 0
    assert main(["board", "--leave"]) == 0
    said = capsys.readouterr().out
    parts = ["You have joined no board", "Not your code, and no name but 'Ada'", "as Ada", "You have left the board"]
    assert [part for part in [*parts, "You had joined no board"] if part not in said] == []
    assert len({json.loads(body)["learner"] for body in board.got}) == 1


def test_the_command_tells_that_the_board_is_away(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert main(["board", "--join", f"http://127.0.0.1:{port}/?token=a"]) == 0
    assert main(["board", "--leave"]) == 0
    said = capsys.readouterr().out
    assert "It does not answer now. What you do is kept" in said
    assert "ask your teacher to take it away" in said


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["--join", "http://c/?token=d", "--leave"], "are two things"),
        (["--nickname", "Ada"], "--nickname goes with --join"),
        (["--join"], "Which board?"),
        (["--answer", "before"], "nowhere for your answers"),
        (["--bind", "192.0.2.254", "--port", "0"], "cannot listen on 192.0.2.254"),
    ],
)
def test_misuse_is_one_sentence(command: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", *command]) == 2
    assert told in capsys.readouterr().err


def test_the_course_knows_the_misconceptions_that_its_wrong_answers_state() -> None:
    """It reads their constants itself, since importing all exercises takes torch, and seconds. A list over several
    lines was not read."""
    for id in (exercise.id for exercise in listed()):
        for known in known_answers(find(id)):
            assert {known.misconception, *known.also} <= named(id), id


def test_an_unknown_misconception_is_not_told() -> None:
    class Found:
        misconception = "nobody-knows-this"

    assert first_named(AMDAHL, [Found()]) == ""  # type: ignore[list-item]
    assert first_named(AMDAHL, []) == ""
    assert words("crashed:Deadlock") == "ranks wait for each other"
    assert words("whole-tensor") == "whole tensor"
    assert all(words(id) for id in GENERAL)
