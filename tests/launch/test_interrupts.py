"""Ctrl-C at any moment of a run: KeyboardInterrupt arrives, nothing is left, and the next call is right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import failure_cases as cases
import pytest
from server_children import ranks

from lockstep import run
from lockstep.forking import starter
from lockstep.forking.child import Child
from lockstep.launch.interrupt import undisturbed

HERE = Path(__file__).resolve().parent


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done: list[str] = []

    def work() -> None:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_the_handler_is_the_old_one() -> None:
    with undisturbed():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_there_is_nothing_to_hold_back() -> None:
    seen: list[object] = []

    def work() -> None:
        with undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_a_child_without_a_number_kills_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted between asking for a fork and hearing its number, a Child had number 0. To kill process group 0 is
    to kill one's own: the notebook's kernel went down."""
    ours, theirs = os.pipe()
    monkeypatch.setattr(os, "killpg", refuse)
    monkeypatch.setattr(os, "kill", refuse)
    from multiprocessing.connection import Pipe

    left, right = Pipe()
    child = Child(0, left, ours, os.devnull, lambda: None)
    child.kill()
    os.close(theirs)
    child.close()
    right.close()


def refuse(pid: int, sign: int) -> None:
    raise AssertionError(f"{sign} was sent to {pid}")


# ---- the whole of a run, cut off at a random moment


def interrupted_after(seconds: float, on: str) -> bool:
    """Whether the interrupt came in time."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        run(cases.good_with_large_values, ranks=3, on=on)
        timer.join()  # it comes now, at the latest
        time.sleep(1)
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.sampled(12)
@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
@pytest.mark.parametrize("seed", range(6))
def test_an_interrupt_at_a_random_moment(on: str, seed: int) -> None:
    """While forking, sending, joining, running, collecting values, tidying up."""
    run(cases.good, ranks=3, on=on)
    began = time.monotonic()
    run(cases.good_with_large_values, ranks=3, on=on)
    usual = time.monotonic() - began
    assert interrupted_after(random.Random(seed).random() * usual, on)
    assert ranks() == []
    assert run(cases.good, ranks=3, on=on).values == [3.0] * 3


START = """
    import os, signal, sys, threading, time
    import failure_cases
    from lockstep import run

    if __name__ == "__main__":
        threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            run(failure_cases.good, ranks=2, on=sys.argv[2])
            time.sleep(60)
        except KeyboardInterrupt:
            print("interrupted")
        print(run(failure_cases.good, ranks=2, on=sys.argv[2]).values)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.05, 0.8])
def test_an_interrupt_while_the_server_starts(seconds: float, tmp_path: Path) -> None:
    script = tmp_path / "notebook.py"
    script.write_text(textwrap.dedent(START))
    path = os.pathsep.join([str(HERE), str(HERE.parents[1] / "pkg")])
    command = [sys.executable, str(script), str(seconds), "processes"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["interrupted", "[2.0, 2.0]"]


@pytest.mark.slow
@pytest.mark.parametrize("on", ["processes", "virtual"])
def test_a_server_that_is_stopped_is_replaced(
    on: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A fork that is never answered held the notebook for ever; then for 20 s, and longer until torch was loaded again,
    without a word. Now the server is looked at meanwhile."""
    run(cases.good, ranks=2, on="processes")
    forked = starter._starter._server
    assert isinstance(forked, starter.Forked)
    monkeypatch.setattr(starter, "_FORK_LIMIT", 3600.0)
    os.kill(forked.pid, signal.SIGSTOP)
    assert run(cases.good, ranks=2, on=on).values == [2.0, 2.0]
    assert capfd.readouterr().err == starter._LOST + "\n"
    assert not forked.alive()
