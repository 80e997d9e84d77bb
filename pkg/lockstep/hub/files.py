"""The hub's files: its secrets, and what nobody whom it serves may read or change."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from lockstep.errors import UsageError

SECRETS = ("INSTRUCTORS_PASSWORD", "LEARNERS_PASSWORD", "PROXY_TOKEN", "GRADER_TOKEN")


def refuse_secrets_in(environment: Mapping[str, str]) -> None:
    """Every child process inherits an environment, and `docker inspect` shows it."""
    for name in (f"LOCKSTEP_{secret}" for secret in SECRETS):
        if environment.get(name):
            raise UsageError(
                f"{name} stands in the environment, where other programs can read it.",
                f"Write it to a file that root alone can read, and set {name}_FILE to that file's path.",
            )


def secret(setting: str, environment: Mapping[str, str]) -> str:
    """What is in the file that this setting names."""
    path = environment.get(f"{setting}_FILE")
    if not path:
        raise UsageError(f"{setting}_FILE is not set.", "Set it to the path of the file that has the secret.")
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UsageError(
            f"{setting}_FILE is {path}, and that cannot be read: {error.strerror}.", "Write the secret to that file."
        ) from None
    if not text:
        raise UsageError(f"{path} is empty.", f"Write the secret to it: {setting}_FILE names it.")
    return text


def refuse_writable(paths: Iterable[Path], served: Iterable[int]) -> None:
    """What the hub runs and reads must be nobody's who has a server: not the file, and no folder on the way to it."""
    users = set(served)
    known = [user for user in pwd.getpwall() if user.pw_uid in users]
    names = {user.pw_name for user in known}
    groups = {user.pw_gid for user in known} | {group.gr_gid for group in grp.getgrall() if names & set(group.gr_mem)}
    for path in paths:
        for place in (path.resolve(), *path.resolve().parents):
            status = place.stat()
            shared = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
            if status.st_uid in users or shared or (status.st_mode & stat.S_IWGRP and status.st_gid in groups):
                raise UsageError(
                    f"The hub, which is root, trusts {path}, and its users can change {place}.",
                    f"Move it to where root alone can write, or: chown root {place} && chmod go-w {place}",
                )


def refuse_open(folder: Path, owner: str, holds: str) -> None:
    """The gradebook's folder is the graders' own, and the hub's is root's."""
    mended = f"install -d -o {owner} -m 700 {folder}"
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder} for {holds}.", mended)
    status = folder.stat()
    if status.st_uid != pwd.getpwnam(owner).pw_uid:
        raise UsageError(f"{folder}, with {holds}, must belong to {owner}.", f"chown -R {owner} {folder}")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"Others than {owner} can look into {folder}, with {holds}.", mended)


def refuse_loose(exchange: Path) -> None:
    """In a folder that all can write and that is not sticky, each can put another's things away."""
    if not exchange.is_dir():
        raise UsageError(f"There is no folder {exchange}, through which labs go in.", f"install -d -m 1777 {exchange}")
    mode = os.stat(exchange).st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise UsageError(f"In {exchange} each learner can rename what is another's.", f"chmod 1777 {exchange}")
