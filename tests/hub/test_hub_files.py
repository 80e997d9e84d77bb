"""What the hub reads as root must be root's; what it guards must be shut; and secrets come from files."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from lockstep.errors import UsageError
from lockstep.hub import files

ME = pwd.getpwuid(os.getuid()).pw_name
STRANGER = 4242


def test_a_password_in_the_environment_is_refused_and_in_a_file_it_is_taken(tmp_path: Path) -> None:
    """They stood in hub.env and in the environment of the hub's container, for whoever may look at that."""
    files.refuse_secrets_in({"LOCKSTEP_LEARNERS_PASSWORD": "", "LOCKSTEP_LEARNERS_PASSWORD_FILE": "/run/secrets/it"})
    for name in ("LOCKSTEP_LEARNERS_PASSWORD", "LOCKSTEP_INSTRUCTORS_PASSWORD", "LOCKSTEP_GRADER_TOKEN"):
        with pytest.raises(UsageError, match=f"set {name}_FILE"):
            files.refuse_secrets_in({name: "many-little-ranks"})
    (tmp_path / "it").write_text("many little ranks\n")
    assert files.secret("IT", {"IT_FILE": str(tmp_path / "it")}) == "many little ranks"


def test_a_secret_that_is_missing_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for env, told in (
        ({}, "IT_FILE is not set"),
        ({"IT_FILE": str(tmp_path / "none")}, "cannot be read: No such file"),
        ({"IT_FILE": str(tmp_path / "empty")}, "is empty"),
    ):
        with pytest.raises(UsageError, match=told):
            files.secret("IT", env)


def test_code_that_a_user_of_the_hub_can_change_is_not_run(tmp_path: Path) -> None:
    """The guide gave the whole clone to the graders: whoever graded could write the configuration that root runs."""
    code = tmp_path / "docker" / "jupyterhub_config.py"
    code.parent.mkdir()
    code.touch(mode=0o644)
    files.refuse_writable([code], [STRANGER])
    for place in (code, code.parent):
        with pytest.raises(UsageError, match=f"chown root {place}"):
            files.refuse_writable([code], [os.stat(place).st_uid])
        mode = place.stat().st_mode
        place.chmod(0o777)
        with pytest.raises(UsageError, match=f"its users can change {place}"):
            files.refuse_writable([code], [STRANGER])
        place.chmod(mode)


def test_a_group_that_a_user_of_the_hub_is_in_can_change_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/usr/local/lib is writable for Debian's group staff."""
    code = tmp_path / "code.py"
    code.touch()
    code.chmod(0o664)
    alice = pwd.struct_passwd(("alice", "x", STRANGER, STRANGER, "", "", ""))
    monkeypatch.setattr(pwd, "getpwall", lambda: [alice])
    members = []
    monkeypatch.setattr(grp, "getgrall", lambda: [grp.struct_group(("staff", "x", os.getgid(), members))])
    files.refuse_writable([code], [STRANGER])
    members.append("alice")
    with pytest.raises(UsageError, match="its users can change"):
        files.refuse_writable([code], [STRANGER])


def test_the_gradebooks_folder_is_the_graders_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was made for all to read, as folders are: every learner with a Linux account could read all grades."""
    folder = tmp_path / "grading"
    with pytest.raises(UsageError, match=f"install -d -o {ME} -m 700 {folder}"):
        files.refuse_open(folder, ME, "the gradebook")
    folder.mkdir(mode=0o755)
    with pytest.raises(UsageError, match=f"Others than {ME} can look into {folder}, with the gradebook"):
        files.refuse_open(folder, ME, "the gradebook")
    folder.chmod(0o700)
    files.refuse_open(folder, ME, "the gradebook")
    monkeypatch.setattr(pwd, "getpwnam", lambda name: pwd.struct_passwd((name, "x", STRANGER, STRANGER, "", "", "")))
    with pytest.raises(UsageError, match="must belong to grader"):
        files.refuse_open(folder, "grader", "the gradebook")


def test_the_exchange_is_sticky(tmp_path: Path) -> None:
    """The guide made it 777: a learner could put the graders' folder away, and lay out another."""
    exchange = tmp_path / "exchange"
    with pytest.raises(UsageError, match="There is no folder"):
        files.refuse_loose(exchange)
    exchange.mkdir()
    exchange.chmod(0o777)
    with pytest.raises(UsageError, match=f"chmod 1777 {exchange}"):
        files.refuse_loose(exchange)
    exchange.chmod(0o1777)
    files.refuse_loose(exchange)
