"""Which Linux users get a server. The hub took any name that came with the learners' password: root, the grader."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from lockstep.errors import UsageError
from lockstep.hub.accounts import Accounts, learners

NUMBERS = {"root": 0, "daemon": 1, "nobody": 65534, "grader": 1000, "ada": 1001, "alice": 1002, "bob": 1003}


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A machine with these users, each with a group and a home folder. Add others to what it gives."""
    numbers = dict(NUMBERS)

    def user(name: str) -> pwd.struct_passwd:
        return pwd.struct_passwd((name, "x", numbers[name], numbers[name], "", str(tmp_path / name), "/bin/sh"))

    def group(name: str) -> grp.struct_group:
        members = ["bob"] if name == "class" else []
        return grp.struct_group((name, "x", {"class": NUMBERS["alice"]}.get(name, numbers.get(name, -1)), members))

    monkeypatch.setattr(pwd, "getpwnam", user)
    monkeypatch.setattr(pwd, "getpwall", lambda: [user(name) for name in numbers])
    monkeypatch.setattr(grp, "getgrnam", lambda name: group(name) if name == "class" else {}[name])
    monkeypatch.setattr(grp, "getgrgid", lambda gid: group(next(n for n, uid in numbers.items() if uid == gid)))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in ("ada", "alice", "bob"):
        (tmp_path / name).mkdir(mode=0o700)
    return numbers


def served(*names: str, instructors: str = "ada") -> Accounts:
    return Accounts(frozenset(names), frozenset({instructors}), "grader")


def refused(accounts: Accounts) -> str:
    with pytest.raises(UsageError) as error:
        accounts.check()
    return str(error.value)


def test_learners_and_instructors_with_accounts_of_their_own_are_served() -> None:
    accounts = served("alice", "bob")
    accounts.check()
    assert accounts.numbers() == {1000, 1001, 1002, 1003}


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("root", "an account of the system (its number is 0)"),
        ("daemon", "an account of the system (its number is 1)"),
        ("nobody", "an account of the system (its number is 65534)"),
        ("grader", "the graders' account, grader"),
        ("ada", "a learner's account cannot be an instructor's"),
        ("mallory", "there is no such Linux user"),
    ],
)
def test_nobody_else_can_stand_on_the_list_of_learners(name: str, because: str) -> None:
    said = refused(served("alice", name))
    assert f"would give a server to {name}, and" in said
    assert because in said


@pytest.mark.parametrize("of", ["root", "grader", "ada"])
def test_a_second_name_of_a_number_is_the_same_account(of: str, machine: dict[str, int]) -> None:
    machine["toor"] = machine[of]
    assert "toor" in refused(served("alice", "toor"))


def test_an_instructor_is_no_system_account_either() -> None:
    assert "an account of the system" in refused(served("alice", instructors="root"))
    assert "the graders' account" in refused(served("alice", instructors="grader"))


def test_the_graders_are_a_user_of_their_own(machine: dict[str, int]) -> None:
    for number in (0, 65534, None):
        machine.pop("grader", None)
        machine |= {} if number is None else {"grader": number}
        assert "useradd --create-home grader" in refused(served("alice"))


def test_a_hub_that_is_not_root_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1002)
    assert refused(served("alice")) == "Only root can give servers to Linux users.\nStart the hub as root."


def test_a_home_that_others_can_look_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's useradd makes homes that everybody can read, a learner's answers included."""
    home = tmp_path / "bob"
    os.chown(home, -1, os.getgid())
    owners = grp.struct_group(("bob", "x", os.getgid(), []))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: owners)
    for mode in (0o755, 0o705, 0o711):
        home.chmod(mode)
        assert f"chmod 700 {home}" in refused(served("bob"))
    home.chmod(0o750)
    served("bob").check()  # by a group in which nobody else is
    owners = grp.struct_group(("users", "x", os.getgid(), []))
    assert f"chmod 700 {home}" in refused(served("bob"))


def test_who_is_on_no_list_gets_no_server_from_an_instructor() -> None:
    """An instructor administers the hub, adds a user by any name, and could start a server for it."""
    accounts = served("alice")
    assert accounts.reason("root") == "root is neither a learner nor an instructor here"
    assert accounts.reason("bob") == "bob is neither a learner nor an instructor here"
    assert {"root", "daemon", "nobody", "grader"} == accounts.never()


def test_the_list_is_a_file_or_a_group_or_names(tmp_path: Path) -> None:
    listed = tmp_path / "learners"
    listed.write_text("# 2026\nalice  # of the first row\n\nbob\n")
    assert learners("", str(listed), "") == learners("", "", "class") == learners("bob alice", "", "")


@pytest.mark.parametrize(
    ("setting", "because"),
    [
        (("*", "", ""), "LOCKSTEP_LEARNERS=* would give a server to any Linux user."),
        (("alice *", "", ""), "LOCKSTEP_LEARNERS=* would give a server to any Linux user."),
        (("", "", ""), "The hub needs one list of its learners."),
        (("alice", "", "class"), "The hub needs one list of its learners."),
        (("", "/none", ""), "The list of learners, /none, cannot be read: No such file or directory."),
        (("", "/dev/null", ""), "There is nobody in /dev/null."),
        (("", "", "choir"), "There is no Linux group choir."),
    ],
)
def test_without_a_list_no_hub_starts(setting: tuple[str, str, str], because: str) -> None:
    """`*` was the default."""
    with pytest.raises(UsageError) as error:
        learners(*setting)
    assert str(error.value).startswith(because)
    assert "LOCKSTEP_LEARNERS_FILE" in str(error.value)
