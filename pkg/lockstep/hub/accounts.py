"""Which Linux users get a server of the hub: learners that are on a list, and instructors. No other, ever.

The hub is root and becomes whomever it is asked for. So accounts are compared by their numbers: a second name of root's
number is root. They are looked at when the hub starts and again before each server, for an instructor can add users to
a hub that runs.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import UsageError

FIRST = 1000  # below it are root and the accounts of the system
NOBODY = 65_534
LIST = "Write their names to a file, one a line, and name it in LOCKSTEP_LEARNERS_FILE; or name a Linux group in "
LIST += "LOCKSTEP_LEARNERS_GROUP."


def learners(names: str, file: str, group: str) -> frozenset[str]:
    """The list, from the one setting that has it: names, a file of names, or the name of a Linux group."""
    if [bool(names), bool(file), bool(group)].count(True) != 1:
        raise UsageError("The hub needs one list of its learners.", LIST)
    if "*" in names.split():
        raise UsageError("LOCKSTEP_LEARNERS=* would give a server to any Linux user.", LIST)
    found = frozenset(names.split() if names else _in_file(Path(file)) if file else _in_group(group))
    if not found:
        raise UsageError(f"There is nobody in {file or f'the group {group}'}.", LIST)
    return found


def _in_file(path: Path) -> Iterator[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"The list of learners, {path}, cannot be read: {error.strerror}.", LIST) from None
    for line in lines:
        yield from line.partition("#")[0].split()


def _in_group(name: str) -> Iterator[str]:
    """Those whom the group names, and those whose own group it is."""
    try:
        group = grp.getgrnam(name)
    except KeyError:
        raise UsageError(f"There is no Linux group {name}.", LIST) from None
    yield from group.gr_mem
    yield from (user.pw_name for user in pwd.getpwall() if user.pw_gid == group.gr_gid)


@dataclass(frozen=True)
class Accounts:
    """Whom the hub serves, by name."""

    learners: frozenset[str]
    instructors: frozenset[str]
    grader: str

    @property
    def served(self) -> frozenset[str]:
        return self.learners | self.instructors

    def check(self) -> None:
        """Raises UsageError for the first who is on a list and must not be."""
        if os.geteuid() != 0:
            raise UsageError("Only root can give servers to Linux users.", "Start the hub as root.")
        if not FIRST <= (_uid(self.grader) or 0) != NOBODY:
            raise UsageError(
                f"The graders' user, {self.grader}, has no account here, or one of the system.",
                f"useradd --create-home {self.grader}",
            )
        for name in sorted(self.served):
            reason = self.reason(name)
            if reason:
                raise UsageError(f"The hub would give a server to {name}, and {reason}.", "Mend that, or the list.")

    def reason(self, name: str) -> str:
        """Why this user gets no server; "" if they do."""
        uid = _uid(name)
        if name not in self.served:
            return f"{name} is neither a learner nor an instructor here"
        if uid is None:
            return "there is no such Linux user"
        if uid < FIRST or uid == NOBODY:
            return f"that is an account of the system (its number is {uid})"
        if uid == os.geteuid():
            return "that is the hub's own account"
        if uid == _uid(self.grader):
            return f"that is the graders' account, {self.grader}"
        if name in self.learners and uid in map(_uid, self.instructors):
            return "a learner's account cannot be an instructor's"
        return open_home(name)

    def never(self) -> frozenset[str]:
        """All accounts of this machine that must not sign in, on whatever list they are."""
        own = {os.geteuid(), _uid(self.grader)}
        listed = [user for user in pwd.getpwall() if not FIRST <= user.pw_uid != NOBODY or user.pw_uid in own]
        return frozenset(user.pw_name for user in listed) | {"root", self.grader}

    def numbers(self) -> frozenset[int]:
        """Of all whose programs run here, the graders' too."""
        found = (_uid(name) for name in (*self.served, self.grader))
        return frozenset(uid for uid in found if uid is not None)


def open_home(name: str) -> str:
    """What is wrong if others can look into the user's home folder. Where there is none yet, nothing is."""
    user = pwd.getpwnam(name)
    try:
        home = os.stat(user.pw_dir)
    except OSError:
        return ""
    shared = home.st_mode & stat.S_IRWXG and not _is_alone(name, home.st_gid)
    if home.st_mode & stat.S_IRWXO or shared:
        return f"others can look into the home folder (chmod 700 {user.pw_dir})"
    return ""


def _is_alone(name: str, gid: int) -> bool:
    """Whether it is the group that Linux gives each user, with nobody else in it."""
    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return True
    return group.gr_name == name and not set(group.gr_mem) - {name}


def _uid(name: str) -> int | None:
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None
