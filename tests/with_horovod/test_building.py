"""Horovod's wheel: built with a pip that only plays, cached, installed; and what is said where that cannot be done."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from lockstep.cli import horovod as command
from lockstep.cli import main
from lockstep.errors import WorldUnavailable
from lockstep.installs import heard, with_pip
from lockstep.lessons import horovod_button as lesson
from lockstep.tally import Pace, Terminal
from lockstep.this_machine import doctor
from lockstep.with_horovod import available, installing
from lockstep.with_horovod.installing import Installed

WHEEL = "horovod-0.28.1-cp311-cp311-linux_x86_64.whl"
SAID: list[tuple[str, float]] = []

# It writes down what it is given in the place of a wheel. {{plays}} is what goes on before.
PIP = """\
import json, os, pathlib, sys, time
folder = pathlib.Path(sys.argv[sys.argv.index("--wheel-dir") + 1]) if "wheel" in sys.argv else None
with open({log!r}, "a") as log:
    log.write(sys.argv[1] + "\\n")
if folder:
    required = pathlib.Path(sys.argv[sys.argv.index("--requirement") + 1]).read_text()
    compiler = pathlib.Path(os.environ["CXX"]).read_text()
    {plays}
    given = dict(argv=sys.argv, required=required, compiler=compiler, env=dict(os.environ))
    (folder / {wheel!r}).write_text(json.dumps(given))
"""
COMPILES = (
    'print("Running CMake in x:"); [print(f"[{p:3}%] Building CXX object a.o", flush=True) for p in range(0, 101, 5)]'
)
FAILS = 'print("a.cc:3:1: error: no such thing"); print("ERROR: Failed building wheel"); sys.exit(1)'


class Played:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.script, self.log, self.state = folder / "pip.py", folder / "pip.log", None
        self.loads = True  # whether what is installed works
        self.plays(COMPILES)
        monkeypatch.setattr(installing, "pip", lambda asked: [sys.executable, str(self.script), asked])
        monkeypatch.setattr(installing, "installed", self.installed)
        monkeypatch.setattr(installing, "install_wheel", self.install_wheel)
        monkeypatch.setenv("LOCKSTEP_HOME", str(folder / "home"))

    def plays(self, code: str) -> None:
        self.script.write_text(PIP.format(log=str(self.log), wheel=WHEEL, plays=code))

    def installed(self) -> Installed | None:
        return self.state

    def install_wheel(self, wheel: Path) -> None:
        good = "argv" in wheel.read_text()
        self.state = Installed(
            "0.28.1", "" if good and self.loads else "Horovod 0.28.1 does not load: undefined symbol"
        )

    @property
    def builds(self) -> int:
        return self.log.read_text().split().count("wheel") if self.log.exists() else 0


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    SAID.clear()
    return Played(tmp_path, monkeypatch)


def tell(what: str, done: float) -> None:
    SAID.append((what, done))


def test_a_build_is_told_from_beginning_to_end_and_kept(played: Played) -> None:
    assert str(installing.provide(tell)) == f"Horovod 0.28.1 is installed in {sys.prefix}."
    assert installing.wheel() == installing.folder() / WHEEL
    parts = [done for _, done in SAID]
    assert all(a <= b for a, b in pairwise(parts))
    assert parts[-1] == 1
    assert len(set(parts)) > 15
    SAID.clear()
    played.state = None
    assert installing.provide(tell, compile=False)
    assert played.builds == 1, "the second time it came from the cache"


def test_what_is_asked_of_pip(played: Played) -> None:
    """The hash of the sources, no wheel of pip's own cache (it may be another torch's), and what is chosen before."""
    os.environ["HOROVOD_CYCLE_TIME"] = "3"
    try:
        installing.provide(tell)
    finally:
        del os.environ["HOROVOD_CYCLE_TIME"]
    given = json.loads((installing.folder() / WHEEL).read_text())
    assert given["required"] == f"horovod==0.28.1 --hash=sha256:{installing.SHA256}\n"
    assert {"--require-hashes", "--no-cache-dir", "--no-deps", "--no-build-isolation"} <= set(given["argv"])
    env = given["env"]
    assert (env["HOROVOD_WITH_GLOO"], env["HOROVOD_WITHOUT_MPI"], env["HOROVOD_CYCLE_TIME"]) == ("1", "1", "3")
    assert env["PATH"].startswith(str(Path(sys.executable).parent)), "cmake stands there"
    assert given["compiler"].splitlines()[0] == "#!/bin/sh"


def test_packages_get_the_versions_that_the_project_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_ARGS", "--index-url 'https://example.org/a b'")
    constraints = Path(__file__).parents[2] / "constraints.txt"
    assert with_pip.pip_arguments() == ["--constraint", str(constraints), "--index-url", "https://example.org/a b"]


def test_no_more_compilers_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing.host, "cores", lambda: installing.host.Cores(64, 64, None))
    monkeypatch.setattr(installing.host, "memory", lambda: 9 * 10**9)
    assert installing.jobs() == 4
    monkeypatch.setattr(installing.host, "memory", lambda: 10**9)
    assert installing.jobs() == 1


def test_the_last_standard_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "echo heard:")
    env = installing.environment(tmp_path)
    said = subprocess.run([env["CXX"], "-std=c++17", "a b.cc"], capture_output=True, text=True, check=True).stdout
    assert said == "heard: -std=c++17 a b.cc -std=c++20 -O1 -g0\n"


def test_a_build_that_fails_leaves_its_reason_and_nothing_else(played: Played) -> None:
    played.plays(FAILS)
    with pytest.raises(WorldUnavailable, match="could not be built: no such thing") as raised:
        installing.provide(tell)
    log = installing.root() / "failed.log"
    assert str(log) in str(raised.value)
    assert "a.cc:3:1" in log.read_text()
    assert sorted(p.name for p in installing.root().iterdir()) == ["failed.log", "lock"]
    played.plays(COMPILES)
    installing.provide(tell)
    assert not log.exists()


def test_ctrl_c_ends_the_compilers(played: Played, tmp_path: Path) -> None:
    """pip and all that it has started are a group of their own, which Ctrl-C in a terminal would not reach."""
    child = tmp_path / "child"
    played.plays(
        "import subprocess; "
        f"p = subprocess.Popen(['sleep', '600']); pathlib.Path({str(child)!r}).write_text(str(p.pid)); "
        "print('[ 50%] Building', flush=True); time.sleep(600)"
    )

    def stop(what: str, done: float) -> None:
        if done > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        installing.provide(stop)
    assert ended(int(child.read_text()))
    assert installing.wheel() is None
    assert [p.name for p in installing.root().iterdir()] == ["lock"]


def ended(pid: int) -> bool:
    """Of a process that was killed, a moment later: it is nobody's child any more, and may still be running its end."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        until = time.monotonic() + 30
        while process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
    return True


def test_of_two_at_once_one_builds(played: Played) -> None:
    played.plays(f"time.sleep(1); {COMPILES}")
    both = [threading.Thread(target=installing.provide, args=(tell,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    assert played.builds == 1
    assert any("Another process" in what for what, _ in SAID)


def test_a_kept_wheel_that_loads_no_more_is_told_and_built_anew(played: Played) -> None:
    """As after the system's C++ library has been changed."""
    installing.folder().mkdir(parents=True)
    (installing.folder() / WHEEL).write_text("built long ago")
    assert installing.provide(tell) == Installed("0.28.1")
    assert played.builds == 1
    assert "Horovod 0.28.1 does not load: undefined symbol" in [what for what, _ in SAID]


def test_a_new_wheel_that_does_not_load_is_not_kept(played: Played) -> None:
    played.loads = False
    with pytest.raises(WorldUnavailable, match=r"It was built, and is of no use.*undefined symbol"):
        installing.provide(tell)
    assert installing.wheel() is None


def test_what_a_killed_build_has_left_is_thrown_away(played: Played) -> None:
    left = installing.root() / "building-abc"
    left.mkdir(parents=True)
    (left / WHEEL).write_text("half")
    installing.provide(tell)
    assert not left.exists()


WHY = {
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3 object>: "
    "Failed to establish a new connection: [Errno 111] Connection refused')': /simple/horovod/\n"
    "ERROR: No matching distribution": "Failed to establish a new connection: [Errno 111] Connection refused",
    "a.cc:1:2: error: no x\n  error: subprocess-exited-with-error": "no x",
    "c++: fatal error: Killed signal terminated program cc1plus": "Killed signal terminated program cc1plus",
    "CMake Error at a.txt:3 (message):\n  no gloo\n": "CMake Error at a.txt:3 (message): no gloo",
    "  ModuleNotFoundError: No module named x\n  error: subprocess-exited": "ModuleNotFoundError: No module named x",
    "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES": "THESE PACKAGES DO NOT MATCH THE HASHES",
    "/usr/bin/python3: No module named pip": "No module named pip",
    "": "it said nothing",
}


@pytest.mark.parametrize(("said", "why"), WHY.items())
def test_the_reason_is_the_line_that_says_it(said: str, why: str) -> None:
    assert heard.reason(said.splitlines()) == why


def test_make_s_percentages_are_parts_of_the_time() -> None:
    parts = [installing.done(percent) for percent in range(101)]
    assert (parts[0], parts[-1]) == (installing.PART[0], installing.PART[-1])
    assert all(a < b for a, b in pairwise(parts))


# ---- What is missing


def test_a_machine_without_a_compiler(monkeypatch: pytest.MonkeyPatch, played: Played) -> None:
    monkeypatch.setattr(available.shutil, "which", lambda name: None)
    monkeypatch.delenv("CXX", raising=False)
    assert "needs g++ and make" in available.obstacle()
    with pytest.raises(WorldUnavailable, match="apt-get install g\\+\\+ make"):
        installing.provide(tell)
    assert played.builds == 0


def test_debians_python_without_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available.shutil, "which", lambda name: name)
    monkeypatch.setattr(available.sysconfig, "get_path", lambda name: "/nowhere")
    assert "/nowhere/Python.h: on Debian, apt-get install python3-dev" in available.obstacle()


def test_conda_names_its_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "x86_64-conda-linux-gnu-c++")
    monkeypatch.setattr(available.shutil, "which", lambda name: None)
    assert "needs x86_64-conda-linux-gnu-c++ and make" in available.obstacle()


def test_horovod_of_another_torch_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It was found, and so it was imported, and torch's symbols were missing in it."""
    monkeypatch.setattr(available, "_place", lambda: tmp_path)
    (tmp_path / "metadata.json").write_text('{"pytorch": "2.12.0"}')
    with pytest.raises(WorldUnavailable, match=r"built for torch 2\.12\.0, and this is torch"):
        available.require()
    assert "built for torch 2.12.0" in str(installing.installed())
    (tmp_path / "metadata.json").write_text("{")
    available.require()


def test_two_rows_of_doctor() -> None:
    assert doctor.horovod("0.28.1").ok
    assert not doctor.horovod("").ok
    assert doctor.horovod("").optional, "it is no fault"
    assert "lockstep horovod" in doctor.horovod("").advice


# ---- The command


def test_the_command_asks(played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command.sys, "stdin", type("Terminal", (io.StringIO,), {"isatty": lambda self: True})())
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    assert main(["horovod"]) == 0
    assert "about 3 minutes" in asked[0]
    assert capsys.readouterr().out == "Nothing was built.\n"
    monkeypatch.setattr("builtins.input", lambda question: "")
    assert main(["horovod"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"Horovod 0.28.1 is installed in {sys.prefix}."
    assert main(["horovod"]) == 0
    assert capsys.readouterr().out == f"Horovod 0.28.1 is installed in {sys.prefix}.\n"
    assert played.builds == 1


def test_nobody_to_ask(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["horovod"]) == 2
    assert "lockstep horovod --yes" in capsys.readouterr().err
    assert main(["horovod", "--cached"]) == 0
    assert "No Horovod for this torch is in" in capsys.readouterr().out
    assert played.builds == 0
    assert main(["horovod", "--yes"]) == 0
    assert played.builds == 1


def test_3_when_it_cannot_be_built(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    played.plays(FAILS)
    assert main(["horovod", "--yes"]) == 3
    assert "lockstep: Horovod could not be built: no such thing\n" in capsys.readouterr().err


def test_known_traps_of_the_machine_are_told(
    played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        command.doctor, "hostname", lambda: doctor.Finding("hostname", False, "'box' does not resolve", "Add it.")
    )
    played.state = Installed("0.28.1")
    assert main(["horovod"]) == 0
    assert "'box' does not resolve. Add it." in capsys.readouterr().out


# ---- What is seen


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_log_gets_a_line_now_and_then_and_a_terminal_one_line() -> None:
    log, screen, clock = io.StringIO(), io.StringIO(), Clock()
    screen.isatty = lambda: True  # type: ignore[method-assign]
    for out in (log, screen):
        clock.now = 0.0
        with Terminal(out, Pace(clock)) as terminal:
            for percent in range(101):
                clock.now = 2.0 * percent
                terminal.tell("Horovod is compiled", percent / 100)
    assert log.getvalue().count("\n") == 11
    assert "Horovod is compiled: 50 % 2 min left\n" in log.getvalue()
    assert "\n" not in screen.getvalue()
    assert screen.getvalue().rpartition("\r")[2] == "", "the line is clear again"


def test_how_long_it_still_takes() -> None:
    clock = Clock()
    pace = Pace(clock)
    clock.now = 60.0
    assert pace.left(0.01) == pace.left(1) == ""
    assert pace.left(0.25) == "3 min left"
    assert pace.left(0.75) == "20 s left"


# ---- In a notebook


def test_a_notebook_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson, "fault", lambda: "")
    monkeypatch.setattr(lesson, "version", lambda: "0.28.1")
    shown = lesson.horovod_ready()
    assert (shown.paragraphs(), shown.offer) == (["Horovod 0.28.1 is ready."], "")


def test_a_button_builds_it(monkeypatch: pytest.MonkeyPatch, played: Played) -> None:
    monkeypatch.setattr(lesson, "available", lambda: False)
    monkeypatch.setattr(lesson, "version", lambda: "0.28.1")
    shown = lesson.horovod_ready()
    assert shown.why.startswith("Horovod is not installed here. `lockstep horovod` builds it")
    seen: list[str] = []
    shown.observe(lambda change: seen.append(change.new), "why")
    played.plays(FAILS)
    press(shown)
    assert "could not be built: no such thing" in shown.why
    assert shown.offer == lesson.AGAIN
    played.plays(COMPILES)
    press(shown)
    assert (shown.why, shown.offer) == ("Horovod 0.28.1 is ready. Run the cells below again.", "")
    assert any("Horovod is compiled: 5" in why for why in seen)
    assert played.builds == 2


def press(shown: lesson.Builder) -> None:
    shown._handle_custom_msg({"show": True}, [])
    assert shown.offer == ""
    assert shown.work
    shown.work.join(60)


@pytest.mark.horovod
def test_the_horovod_of_this_environment_loads() -> None:
    now = installing.installed()
    assert now
    assert now.fault == ""
