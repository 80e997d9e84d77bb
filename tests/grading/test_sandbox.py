"""The walls of a sandbox, from inside; what grading does within them is tested in tests/hostile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from lockstep.errors import WorldUnavailable
from lockstep.grading import sandbox_check
from lockstep.grading.sandbox import BUBBLEWRAP, FORK
from lockstep.grading.sandbox_check import kind_of_sandbox

NOT_NOBODY = "sandbox.is_nobody = lambda: False\n"  # as where an ordinary user grades
WRAPS = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap: apt-get install bubblewrap")
ENTER = """
import json, os, sys
from lockstep.grading import syscalls as kernel, sandbox
from lockstep.grading.sandbox_view import view

SHOWN = view().shown
TOPS = ("/home", "/mnt", "/srv", "/var", "/opt")

def strange(*paths):  # that are there and do not lead to what is shown
    for path in filter(os.path.lexists, paths):
        if not any(f"{shown}/".startswith(f"{path}/") for shown in SHOWN):
            yield path
        elif path not in SHOWN:
            yield from strange(*(f"{path}/{name}" for name in os.listdir(path)))

"""
LOOK = """
secret = sys.argv[1]
sandbox.enter(view((secret,)), sandbox.Limits(), kept=[])
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
writable = [d for d in ("/", "/usr", "/etc", "/proc/sys/kernel", sys.prefix, "/tmp") if os.access(d, os.W_OK)]
print(json.dumps({
    "user": os.getuid(), "secret": os.path.exists(secret), "processes": [p for p in os.listdir("/proc") if p.isdigit()],
    "files": [int(fd) for fd in os.listdir("/proc/self/fd")], "cwd": os.getcwd(), "writable": writable,
    "strange": list(strange(*TOPS)), "net": os.listdir("/proc/sys/net/ipv4/conf"),
    **{key: status[key].strip() for key in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")},
}))
"""
FORBIDDEN = """
kernel.unshare(kernel.NEW_USER)
sandbox._write("/proc/self/setgroups", "deny")
sandbox._write("/proc/self/uid_map", "0 %d 1" % int(sys.argv[1]))
sandbox._write("/proc/sys/user/max_user_namespaces", "0")
from lockstep.grading.sandbox_check import kind_of_sandbox
kind_of_sandbox()
"""
FOREVER = """
sandbox.enter(view(), sandbox.Limits(), kept=[])
if os.fork() == 0:
    os.setsid()
    os.fork()
os.write(1, b"in\\n")
while True:
    pass
"""
WRAPPED = """
import signal
from lockstep.grading.sandbox_host import Sandbox
from lockstep.grading.sandbox import BUBBLEWRAP
one = Sandbox(view(), BUBBLEWRAP)
one.warm_up()
print("in", flush=True)
signal.pause()
"""
TO_RUN = """
from dataclasses import replace
from lockstep import run, worlds
from lockstep.grading.sandbox_host import Sandbox
folder, kind = sys.argv[1:]
seen = view((folder + "/private",))
box = Sandbox(replace(seen, shown=(*seen.shown, folder)), kind)

def look(folder):
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    places = ("/", "/usr", "/etc", "/dev", "/proc/sys/kernel", "/tmp", "/dev/shm", folder)
    return {
        "user": os.getuid(), "cwd": os.getcwd(), "writable": [d for d in places if os.access(d, os.W_OK)],
        "strange": list(strange(*TOPS)), "net": os.listdir("/proc/sys/net/ipv4/conf"),
        "shown": open(folder + "/file").read(), "private": os.path.exists(folder + "/private/file"),
        "environment": sorted(os.environ),
        **{key: status[key].strip() for key in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp")},
    }

with worlds.carried_by(box.carry):
    (found,) = run(look, folder, ranks=1, on="processes").values
box.close()
print(json.dumps(found))
"""


@pytest.fixture(scope="module", autouse=True)
def _sandboxes():
    try:
        kind_of_sandbox()
    except WorldUnavailable as error:
        pytest.skip(str(error))


def python(code: str, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", ENTER + code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("whose", ["", NOT_NOBODY], ids=["nobody's", "the grader's"])
def test_inside_there_is_python_and_nothing_of_anybody(whose, tmp_path):
    """An ordinary user had no such sandbox: its group was asked for inside, where it has no number yet."""
    out, err = python(whose + LOOK, str(tmp_path)).communicate(timeout=120)
    assert not err
    seen = json.loads(out)
    assert (seen["user"], seen["cwd"], seen["secret"]) == (1000, "/tmp", False)
    assert seen["writable"] == ["/tmp"]
    assert len(seen["processes"]) == 2, "its first process, and itself"
    assert len(seen["files"]) == 4, "standard input, output and error, and the folder that is being listed"
    assert {"all", "default", "lo"}.issuperset(seen["net"])
    assert seen["strange"] == []
    assert {int(seen[key], 16) for key in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert (seen["NoNewPrivs"], seen["Seccomp"]) == ("1", "2")


def test_an_environment_in_tmp_may_be_a_link(tmp_path):
    """A sandbox holds a folder of its own there, and the link did not lead to what was to be made read-only."""
    (tmp_path / "env").symlink_to(sys.prefix)
    look = "sandbox.enter(view(), sandbox.Limits(), kept=[])\nprint(sys.prefix)"
    done = subprocess.run(
        [tmp_path / "env/bin/python", "-c", ENTER + look], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == f"{tmp_path / 'env'}\n", done.stderr


@pytest.mark.slow
def test_where_user_namespaces_are_forbidden_it_says_so():
    import os

    tried = python(FORBIDDEN, str(os.geteuid()))
    _, err = tried.communicate(timeout=120)
    assert tried.returncode
    told = err.strip().splitlines()
    assert any("This machine allows no sandbox: No space left on device (unshare)." in line for line in told)
    assert "--unsafe" in told[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"), [(FOREVER, 3), pytest.param(WRAPPED, 1, marks=WRAPS)], ids=[FORK, BUBBLEWRAP]
)
def test_the_whole_tree_ends_with_whoever_made_it(code, said):
    outer = python(code)
    assert [outer.stdout.readline() for _ in range(said)] == ["in\n"] * said
    family = psutil.Process(outer.pid).children(recursive=True)
    assert len(family) == 4
    outer.kill()
    outer.wait()
    _, left = psutil.wait_procs(family, timeout=10)
    assert not left
    outer.stdout.close()
    outer.stderr.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [FORK, pytest.param(BUBBLEWRAP, marks=WRAPS)])
def test_a_run_sees_no_more_in_either_kind(kind, tmp_path, monkeypatch):
    """Also of a folder in /tmp: Lockstep was installed there once, and no sandbox came up."""
    shown = tmp_path / "shown"
    (shown / "private").mkdir(parents=True)
    (shown / "file").write_text("what a learner may read")
    (shown / "private" / "file").write_text("what nobody may")
    monkeypatch.setenv("LOCKSTEP_SEED", "a secret")
    out, err = python(TO_RUN, str(shown), kind).communicate(timeout=120)
    assert not err
    seen = json.loads(out)
    assert (seen["user"], seen["cwd"], seen["writable"]) == (1000, "/tmp", ["/tmp", "/dev/shm"])
    assert (seen["shown"], seen["private"]) == ("what a learner may read", False)
    assert {"all", "default", "lo"}.issuperset(seen["net"])
    assert seen["strange"] == []
    assert "LOCKSTEP_SEED" not in seen["environment"]
    assert {int(seen[key], 16) for key in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert (seen["NoNewPrivs"], seen["Seccomp"]) == ("1", "2")


@WRAPS
def test_bubblewrap_is_asked_where_no_fork_may_go_in(monkeypatch):
    def refused():
        raise WorldUnavailable("This machine allows no sandbox: Operation not permitted (unshare).", "Allow it.")

    monkeypatch.setattr(sandbox_check, "_check_fork", refused)
    assert kind_of_sandbox() == BUBBLEWRAP
    with pytest.raises(WorldUnavailable, match="not permitted"):
        kind_of_sandbox(FORK)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(WorldUnavailable, match="not permitted"):
        kind_of_sandbox()
    with pytest.raises(WorldUnavailable, match="bubblewrap is not installed"):
        kind_of_sandbox(BUBBLEWRAP)


def test_what_is_private_is_covered_also_where_it_lies_in_python(tmp_path):
    from lockstep.grading.sandbox_view import view

    found = view((str(tmp_path),))
    assert str(tmp_path) in found.covered
    assert not [p for p in found.shown if Path(p) in tmp_path.parents or p == "/"]
