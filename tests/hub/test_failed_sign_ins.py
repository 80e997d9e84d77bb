"""A hub looked at as many passwords a second as anybody sent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from tornado.web import HTTPError

from lockstep.hub.sign_in import LONGEST, MOST, REMEMBERED, Failures, slowed

ALICE, BOB, CAMPUS = ("name", "alice"), ("name", "bob"), ("address", "192.0.2.7")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def failures(clock: Clock) -> Failures:
    return Failures(clock)


def test_a_few_slips_cost_nothing_and_then_each_costs_twice_as_much(clock: Clock, failures: Failures) -> None:
    waits = []
    for _ in range(9):
        failures.attempt(ALICE)
        waits.append(failures.wait(ALICE))
        clock.now += waits[-1]
    assert waits == [0, 0, 0, 0, 4, 8, 16, LONGEST, LONGEST]
    assert failures.wait(BOB) == 0, "somebody else's name"


def test_whoever_tries_one_name_after_another_is_slowed_too(failures: Failures) -> None:
    for number in range(20):
        assert failures.wait(("name", f"student{number}"), CAMPUS) == 0
        failures.attempt(("name", f"student{number}"), CAMPUS)
    assert failures.wait(ALICE, CAMPUS) > 0
    failures.success(CAMPUS)
    assert failures.wait(ALICE, CAMPUS) == 0


def test_failures_are_forgiven(clock: Clock, failures: Failures) -> None:
    for _ in range(20):
        failures.attempt(ALICE)
    clock.now = REMEMBERED + 1
    assert failures.wait(ALICE) == 0
    failures.attempt(ALICE)
    assert failures.wait(ALICE) == 0, "it counts from the beginning"


def test_names_that_somebody_makes_up_fill_no_memory(failures: Failures) -> None:
    for number in range(MOST + 100):
        failures.attempt(("name", str(number)))
    assert len(failures._known) == MOST


class Asked:
    """As much of a JupyterHub authenticator as is needed, which knows alice's password and root's."""

    allow_all, allowed_users, blocked_users = False, frozenset({"alice", "root"}), frozenset({"root"})

    def __init__(self) -> None:
        self.asked: list[str] = []

    def normalize_username(self, name: str) -> str:
        return name.lower()

    async def authenticate(self, handler: Any, data: dict[str, str]) -> str | None:
        self.asked.append(data["username"])
        await asyncio.sleep(0)
        return data["username"] if data["password"] == "right" else None


def answered(asked: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: in that of the tests there may be a browser, whose loop runs."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asked).result()


def attempt(authenticator: Any, name: str, password: str = "right") -> str | None:
    handler = SimpleNamespace(request=SimpleNamespace(remote_ip="192.0.2.7"))
    return answered(authenticator.authenticate(handler, {"username": name, "password": password}))


def test_the_right_password_is_not_looked_at_before_its_time(clock: Clock, failures: Failures) -> None:
    authenticator = slowed(Asked, failures)()
    assert [attempt(authenticator, "alice", f"guess {n}") for n in range(5)] == [None] * 5
    with pytest.raises(HTTPError) as error:
        attempt(authenticator, "alice")
    assert (error.value.status_code, len(authenticator.asked)) == (429, 5)
    assert error.value.log_message == "Too many attempts have failed. Wait 4 seconds, then try again."
    clock.now += 3.5
    with pytest.raises(HTTPError, match="Wait 1 second, then"):
        attempt(authenticator, "alice")
    clock.now += 0.5
    assert attempt(authenticator, "alice") == "alice"
    assert failures.wait(ALICE, CAMPUS) == 0


def test_many_attempts_at_once_are_no_way_round(failures: Failures) -> None:
    """Each counts as failed until it has succeeded."""
    authenticator = slowed(Asked, failures)()
    handler = SimpleNamespace(request=SimpleNamespace(remote_ip="192.0.2.7"))

    async def together() -> list[Any]:
        guesses = [{"username": "alice", "password": f"guess {n}"} for n in range(100)]
        return await asyncio.gather(*(authenticator.authenticate(handler, g) for g in guesses), return_exceptions=True)

    answers = answered(together())
    assert sum(answer is None for answer in answers) == len(authenticator.asked) == 5


def test_no_password_is_tried_of_somebody_who_could_not_sign_in(failures: Failures) -> None:
    """Linux would have said whether it is root's, and said it fast."""
    authenticator = slowed(Asked, failures)()
    for name in ("root", "ROOT", "mallory"):
        assert attempt(authenticator, name) is None
    assert attempt(authenticator, "alice", "") is None, "an account without a password is no open door"
    assert authenticator.asked == []


def test_the_name_that_linux_is_asked_is_the_one_that_gets_the_server(failures: Failures) -> None:
    """JupyterHub makes names small. A Linux user Alice could have signed in by her password, as alice."""
    authenticator = slowed(Asked, failures)()
    assert attempt(authenticator, "Alice") == "alice"
    assert authenticator.asked == ["alice"]
