"""A machine with Linux users of its own, and the project's hub on it.

The users stand in files of their own (passwd, group, shadow) that only a mount namespace sees (bubblewrap's); to the
kernel they are as real as any, and PAM knows their passwords.
What lies in somebody's private folder, as root's Python often does, is shown there to all.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parents[2]
COPIED = pytest.mark.reads("course/", "docker/", "docs/", "labs/", "solutions/")  # what a clone of a class holds
HUB = ROOT / "build" / "hub"  # scripts/hub made it
NO_HUB = "there is no JupyterHub here: sh scripts/system-packages hub && sh scripts/hub"
SHOWN = (ROOT, Path(sys.base_prefix), Path(sys.prefix))
# Everybody knows their own. Mallory has an account, and is on no list.
PEOPLE = ("teacher", "alice", "bob")
PASSWORDS = {name: f"the password of {name}" for name in ("root", "daemon", "grader", *PEOPLE, "mallory")}
UIDS = {name: 30_000 + n for n, name in enumerate(["grader", *PEOPLE, "mallory"])}
GRADERS = ("grading", "labs", "solutions")  # what docs/hub.md gives them
COURSE = ("course", "docs", "labs", "solutions", "docker", "nbgrader_config.py")


class House:
    """All of it below ``at``, a folder that everybody can enter."""

    def __init__(self, at: Path) -> None:
        self.at, self.course, self.exchange = at, at / "course-of-2026", at / "exchange"
        self.log = at / "hub.log"
        self.ports = dict(zip(("front", "hub", "proxy", "grader"), free_ports(4), strict=True))
        self.address = f"http://127.0.0.1:{self.ports['front']}"
        at.chmod(0o755)
        self.exchange.mkdir()
        self.exchange.chmod(0o1777)
        (at / "state").mkdir(mode=0o700)
        users = [f"{name}:x:{uid}:{uid}::{self.home(name)}:/bin/sh\n" for name, uid in UIDS.items()]
        groups = [f"{name}:x:{uid}:\n" for name, uid in UIDS.items()]
        (at / "passwd").write_text(Path("/etc/passwd").read_text() + "".join(users))
        (at / "group").write_text(Path("/etc/group").read_text() + "".join(groups))
        (at / "shadow").touch(mode=0o600)
        (at / "shadow").write_text("".join(f"{name}:{hashed(word)}:20000::::::\n" for name, word in PASSWORDS.items()))
        (at / "learners").write_text("alice\nbob\n")
        for name, uid in UIDS.items():
            self.home(name).mkdir(mode=0o700)
            os.chown(self.home(name), uid, uid)
        self._course_of_the_grader()

    def home(self, name: str) -> Path:
        return self.at / name

    def _course_of_the_grader(self) -> None:
        for name in COURSE:  # by root, and the clone may be a user's
            listed = ["git", "-c", f"safe.directory={ROOT}", "ls-files", name]
            of_git = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
            for path in of_git.stdout.split():
                (self.course / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, self.course / path)
        (self.course / "grading").mkdir(mode=0o700)
        for path in (path for name in GRADERS for path in [self.course / name, *(self.course / name).rglob("*")]):
            os.chown(path, UIDS["grader"], UIDS["grader"])

    def inside(self, *command: str) -> list[str]:
        """The command as root of this machine. Whatever it has started ends with it."""
        return [
            "bwrap", "--dev-bind", "/", "/", "--cap-add", "ALL", "--unshare-pid", "--proc", "/proc",
            "--die-with-parent",
            *shown_to_all(SHOWN),
            *(word for name in ("passwd", "group", "shadow")
              for word in ("--ro-bind", str(self.at / name), f"/etc/{name}")),
            "--bind", str(self.at), str(self.at), "--chdir", str(self.at / "state"), *command,
        ]  # fmt: skip

    def may(self, name: str, what: str, path: Path) -> bool:
        """Whether the kernel lets this user ``open`` the path, or ``os.listdir`` it."""
        become = f"import os; os.setgroups([]); os.setgid({UIDS[name]}); os.setuid({UIDS[name]}); {what}({str(path)!r})"
        done = subprocess.run(self.inside(sys.executable, "-c", become), capture_output=True, text=True, check=False)
        assert done.returncode == 0 or "PermissionError" in done.stderr, done.stderr
        return done.returncode == 0

    def start(self) -> subprocess.Popen[bytes]:
        """The hub, as root; it is over at once if its settings are wrong."""
        with self.log.open("w") as log:
            hub = subprocess.Popen(self._hub(), env=self._environment(), stdout=log, stderr=log)
        self._wait(hub)
        return hub

    def refuses(self, **settings: str) -> str:
        """What the hub says with these settings instead, and ends."""
        env = self._environment() | settings
        done = subprocess.run(self._hub(), env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode != 0, done.stderr
        return done.stderr

    def _hub(self) -> list[str]:
        command = [str(HUB / "bin/python"), "-m", "jupyterhub", f"--config={ROOT / 'docker/jupyterhub_config.py'}"]
        return self.inside(*command)

    def _environment(self) -> dict[str, str]:
        env = {"PATH": os.pathsep.join([str(HUB / "bin"), "/usr/bin:/bin:/usr/sbin:/sbin"]), "LANG": "C.UTF-8"}
        mine = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}  # of the tree that is tried
        return env | mine | self._settings()

    def _settings(self) -> Mapping[str, str]:
        return {
            "LOCKSTEP_SPAWNER": "local",
            "LOCKSTEP_INSTRUCTORS": "teacher",
            "LOCKSTEP_LEARNERS_FILE": str(self.at / "learners"),
            "LOCKSTEP_HUB_URL": self.address,
            "LOCKSTEP_HUB_PORT": str(self.ports["hub"]),
            "LOCKSTEP_PROXY_API": f"http://127.0.0.1:{self.ports['proxy']}",
            "LOCKSTEP_GRADER_URL": f"http://127.0.0.1:{self.ports['grader']}",
            "LOCKSTEP_COURSE": str(self.course),
            "NBGRADER_EXCHANGE": str(self.exchange),
        }

    def _wait(self, hub: subprocess.Popen[bytes], seconds: float = 180) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert hub.poll() is None, self.log.read_text()
            try:
                urlopen(f"{self.address}/hub/health", timeout=5).close()
            except OSError:
                time.sleep(0.5)
            else:
                return
        raise AssertionError(f"no hub in {seconds} s:\n{self.log.read_text()}")


def need(there: bool, otherwise: str) -> None:
    """Skip a test for this reason; under CI nothing is skipped."""
    if not there:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(otherwise)


def shown_to_all(paths: Iterable[Path]) -> list[str]:
    """bubblewrap's options, by which everybody can reach these; what else is in a private folder on the way is gone."""
    on_the_way = {path.resolve(): list(reversed(path.resolve().parents)) for path in paths}
    private = {parent for way in on_the_way.values() for parent in way if not parent.stat().st_mode & 0o1}
    tops = [top for top in sorted(private) if not private.intersection(top.parents)]
    options = [word for top in tops for word in ("--tmpfs", str(top))]
    for path, way in on_the_way.items():
        between = [parent for parent in way if set(tops).intersection(parent.parents)]
        options += [word for parent in between for word in ("--perms", "0755", "--dir", str(parent))]
        options += ["--ro-bind", str(path), str(path)] if set(tops).intersection(way) else []
    return options


def hashed(password: str) -> str:
    """As it stands in /etc/shadow."""
    made = subprocess.run(["openssl", "passwd", "-6", password], check=True, capture_output=True, text=True)
    return made.stdout.strip()


def free_ports(count: int) -> Iterable[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in taken]
    finally:
        for one in taken:
            one.close()
