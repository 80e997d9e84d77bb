"""The class's board as a service of the project's own hub: a learner joins in a kernel of theirs, without a token; the
hub says who it is, and the board's file does not."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from house import COPIED, ROOT, House, free_ports
from playwright.sync_api import Browser
from visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), COPIED]

BOARD = "/services/board"
JOIN = """
from lockstep import check
from lockstep.cli import main
from lockstep.reports import sender
assert main(["board", "--join", "--nickname", "A learner"]) == 0
print(repr(check("why_parallel.amdahl", lambda p, s: s)))
sender.wait_until_idle(120)
main(["board", "--status"])
"""


class HouseWithBoard(House):
    def _settings(self) -> Mapping[str, str]:
        self.ports.setdefault("board", *free_ports(1))
        return {**super()._settings(), "LOCKSTEP_BOARD_URL": f"http://127.0.0.1:{self.ports['board']}"}


@pytest.fixture(scope="module")
def house(house: House) -> Iterator[House]:
    """Another hub beside that of the other tests, whose requirements it has."""
    with tempfile.TemporaryDirectory(prefix="lockstep-hub-") as at:
        mine = HouseWithBoard(Path(at))
        hub = mine.start()
        try:
            yield mine
        finally:
            hub.terminate()
            hub.wait(60)
            shots = ROOT / "tests" / "screenshots"
            shots.mkdir(exist_ok=True)
            shutil.copy(mine.log, shots / "hub-with-board.log")


@pytest.fixture(scope="module")
def alice(house: House) -> Visitor:
    visitor = Visitor(house, "alice")
    assert visitor.sign_in()[0] == 200
    assert visitor.start()
    return visitor


def status_of(house: House, path: str, data: bytes | None = None) -> tuple[int, str]:
    try:
        with urlopen(f"{house.address}{path}", data, timeout=60) as answer:
            return answer.status, answer.url
    except HTTPError as error:
        return error.code, error.url


def test_a_learner_joins_without_a_token_and_the_board_knows_it(alice: Visitor, house: House) -> None:
    said = alice.run(JOIN)
    assert f"You have joined the board at {house.address}{BOARD}/" in said
    assert "You report to" in said
    assert "results that wait" not in said
    teacher = Visitor(house, "teacher")
    assert teacher.sign_in()[0] == 200
    status, told = teacher.api("GET", f"{BOARD}/state")
    assert status == 200
    assert told["named"] == [{"nickname": "A learner", "passed": 0}]
    assert told["units"][0]["begun"] == 1
    kept = house.home("grader") / ".local/share/lockstep/class/board.jsonl"
    assert "linear" in kept.read_text()
    assert "alice" not in kept.read_text()


def test_a_learner_is_one_learner_whatever_they_say(alice: Visitor) -> None:
    """The id in a report is the sender's word: on a hub the hub's counts."""
    for n in range(3):
        report = {"version": 1, "learner": f"{n:032x}", "nickname": "A learner", "results": []}
        assert alice.api("POST", f"{BOARD}/report", report)[0] == 200
    told = alice.api("GET", f"{BOARD}/state")[1]
    assert told["learners"] == 1


def test_who_has_not_signed_in_sees_the_hubs_form_and_reports_nothing(house: House) -> None:
    status, at = status_of(house, f"{BOARD}/")
    assert status == 200
    assert "/hub/login?" in at
    assert status_of(house, f"{BOARD}/state")[0] == 403
    report = json.dumps({"version": 1, "learner": "0" * 32, "nickname": "", "results": []}).encode()
    assert status_of(house, f"{BOARD}/report", report)[0] == 403
    assert status_of(house, f"{BOARD}/answers?{urlencode({'token': 'x'})}", report)[0] == 403


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_signed_in_one_sees_the_page_and_answers_the_questions(house: House, browser: Browser) -> None:
    from people import person, shot

    with person("bob", house, browser) as bob:
        bob.sign_in(f"{BOARD}/")
        bob.page.locator("body[data-drawn]").wait_for()
        assert "joined" in (bob.page.locator("#people").text_content() or "")
        shot(bob, "board-on-the-hub")
        bob.page.goto(f"{house.address}{BOARD}/questions/before")
        assert not bob.page.locator("#coded").is_visible()
        for number in range(1, 13):
            bob.page.locator(f'input[name="q{number}"][value="a"]').check()
        bob.page.get_by_role("button", name="Send").click()
        bob.page.get_by_text("Your choices have arrived").wait_for()
