"""The board over HTTP: a class at once, a kill in the middle of it, and what knocks that should not."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from boards import Board, board, start
from tornado.httpclient import AsyncHTTPClient, HTTPError, HTTPRequest

from lockstep.cli import main
from lockstep.reports.report import MOST_BYTES, Report, Result

LEARNERS, CHECKS = 300, 6
RING = "communication.ring_all_reduce"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    with board(tmp_path_factory.mktemp("class") / "board.jsonl") as it:
        yield it


def ask(to: Board, method: str, path: str, body: bytes = b"", **heads: str) -> tuple[int, dict[str, str], bytes]:
    at = urlsplit(to.url)
    connection = HTTPConnection(at.hostname, at.port, timeout=60)
    try:
        connection.request(method, path, body or None, heads)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def looked(at: Board) -> dict:
    status, _, body = ask(at, "GET", f"/state?token={at.token}")
    assert status == 200
    return json.loads(body)


def state(of: Board) -> dict:
    """As it is now: what the page is told may be a second old."""
    before = looked(of)["at"]
    while (told := looked(of))["at"] == before:
        time.sleep(0.1)
    return told


class Learner:
    """Sends its results until the board says that it has them, as a kernel does."""

    def __init__(self, number: int) -> None:
        self.id = f"{number:032x}"
        self.unsent: list[Result] = []
        self.made = 0

    def check(self) -> None:
        self.made += 1
        self.unsent.append(Result(self.made, RING, 0.5, "whole-tensor"))

    async def send(self, client: AsyncHTTPClient, to: Board) -> None:
        body = Report(self.id, "", tuple(self.unsent)).written()
        request = HTTPRequest(to.place("report"), "POST", body=body, connect_timeout=60, request_timeout=60)
        try:
            answer = await client.fetch(request, raise_error=False)
        except (OSError, HTTPError):  # killed while it was asked
            return
        if answer.code == 200:
            received = json.loads(answer.body)["received"]
            self.unsent = [r for r in self.unsent if r.number > received]


async def a_lesson(learners: list[Learner], at: Board, kill_after: int | None) -> None:
    """Everybody checks and sends, all at once, ``CHECKS`` times. The board is killed after so many answers."""
    client = AsyncHTTPClient(force_instance=True, max_clients=len(learners))
    answered = 0

    async def one(learner: Learner) -> None:
        nonlocal answered
        for _ in range(CHECKS):
            learner.check()
            await learner.send(client, at)
            answered += not learner.unsent
            if answered == kill_after:
                at.kill()

    await asyncio.gather(*map(one, learners))
    client.close()


def test_300_report_at_once_and_a_kill_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    """Each result is on the board once: none that it had received is lost with the process, and none that was sent
    twice, since no answer came, counts twice."""
    keep = tmp_path / "board.jsonl"
    learners = [Learner(n) for n in range(LEARNERS)]
    first = start(keep)
    of_its_own(a_lesson(learners, first, kill_after=LEARNERS * CHECKS // 2))
    assert first.process.returncode == -9
    assert any(learner.unsent for learner in learners)
    again = start(keep, port=urlsplit(first.url).port or 0)
    try:
        assert again.address == first.address
        received = {learner.id: learner.made - len(learner.unsent) for learner in learners}
        noted = tries(keep)
        assert all(noted.get(id, 0) >= number for id, number in received.items())
        of_its_own(a_lesson(learners, again, kill_after=None))
        assert [learner for learner in learners if learner.unsent] == []
        told = state(again)
        assert told["learners"] == LEARNERS
        assert [(row["learners"], row["misconception"]) for row in told["stuck"]] == [(LEARNERS, "whole-tensor")]
        assert tries(keep) == {learner.id: 2 * CHECKS for learner in learners}
    finally:
        again.process.terminate()
        again.process.wait()


def of_its_own(lesson: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: where a browser's tests ran in this process before, this one has an event loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, lesson).result()


def tries(keep: Path) -> dict[str, int]:
    """By learner, how many results a journal has."""
    found: dict[str, int] = {}
    for line in keep.read_bytes().splitlines()[1:]:
        told = json.loads(line)
        found[told["learner"]] = found.get(told["learner"], 0) + len(told["results"])
    return found


def test_without_the_token_nobody_sees_or_says_anything(running: Board) -> None:
    body = Report("0" * 32).written()
    for method, path in (("GET", "/"), ("GET", "/state"), ("GET", "/questions/before"), ("POST", "/report"),
                         ("POST", "/answers"), ("POST", "/leave")):  # fmt: skip
        for query in ("", "?token=", "?token=wrong", f"?token={running.token[:-1]}", "?token=%ff%00"):
            status, heads, answer = ask(running, method, path + query, body if method == "POST" else b"")
            assert status in (400, 403), (method, path, query)
            assert running.token.encode() not in answer
            assert "Server" not in heads
    assert state(running)["learners"] == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/report", b"{}", 400),
        ("POST", "/report", b"[" * 20_000, 400),
        ("POST", "/report", b"x" * (MOST_BYTES + 1), 400),
        ("POST", "/answers", b"null", 400),
        ("POST", "/leave", b"\xff", 400),
        ("GET", "/report", b"", 405),
        ("PUT", "/state", b"", 405),
        ("GET", "/../../etc/passwd", b"", 404),
        ("GET", "/questions/never", b"", 404),
    ],
)
def test_hostile_requests_are_refused_and_the_board_goes_on(
    running: Board, method: str, path: str, body: bytes, status: int
) -> None:
    got, _, answer = ask(running, method, path, body, Authorization=f"token {running.token}")
    assert got == status
    assert b"Traceback" not in answer
    assert body[:10] not in answer or not body
    assert state(running)["learners"] == 0


def test_what_is_no_http_and_what_never_ends_keeps_nobody_waiting(running: Board) -> None:
    at = urlsplit(running.url)
    hanging = [socket.create_connection((at.hostname, at.port), timeout=60) for _ in range(50)]
    for number, one in enumerate(hanging):
        one.sendall(
            [b"\x16\x03\x01\x02", b"POST /report HTTP/1.1\r\nContent-Length: 30000\r\n\r\n{", b"GET"][number % 3]
        )
    assert state(running)["units"]
    for one in hanging:
        one.close()
    assert state(running)["units"]


def test_a_learner_who_floods_is_told_to_wait(running: Board) -> None:
    body = Report("f" * 32).written()
    heads = {"Authorization": f"token {running.token}"}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(running, "POST", "/report", body, **heads), range(300)))
    assert {status for status, _, _ in answers} == {200, 429}
    assert all(heads["Retry-After"] for status, heads, _ in answers if status == 429)
    assert ask(running, "POST", "/leave", json.dumps({"version": 1, "learner": "f" * 32}).encode(), **heads)[0] == 200
    assert state(running)["learners"] == 0


def test_the_page_allows_nothing_from_elsewhere(running: Board) -> None:
    status, heads, body = ask(running, "GET", f"/?token={running.token}")
    assert status == 200
    assert heads["Content-Security-Policy"].startswith("default-src 'none'; style-src 'nonce-")
    assert (heads["X-Frame-Options"], heads["Referrer-Policy"]) == ("DENY", "no-referrer")
    assert heads["Content-Security-Policy"].split("nonce-")[1].split("'")[0].encode() in body


def test_a_check_of_the_command_reaches_the_board_and_the_page_of_the_class(
    running: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lockstep check` is over at once, and its result has arrived."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    answer = tmp_path / "answer.py"
    answer.write_text("def amdahl(p, s):\n    return 1 / (1 - p + p / s)\n")
    assert main(["board", "--join", running.address, "--nickname", "Ada"]) == 0
    command = [sys.executable, "-m", "lockstep", "check", "why_parallel.amdahl", str(answer)]
    subprocess.run(command, check=True, capture_output=True)
    told = state(running)
    assert told["named"] == [{"nickname": "Ada", "passed": 1}]
    assert told["units"][0]["begun"] == 1
    assert main(["board", "--leave"]) == 0
    assert state(running)["learners"] == 0


def test_a_taken_port_is_one_sentence(running: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = str(urlsplit(running.url).port)
    assert main(["board", "--keep", str(tmp_path / "other.jsonl"), "--port", port]) == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in capsys.readouterr().err
