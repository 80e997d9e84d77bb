"""A run's limits are in seconds in which it had a core, where the kernel tells."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from lockstep import run
from lockstep.errors import TimeLimit
from lockstep.launch import pickled
from lockstep.launch.job import Job
from lockstep.machines import find
from lockstep.virtual import host_time
from lockstep.virtual.cluster_process import run_virtual
from lockstep.virtual.host_time import MOST, HostTime


class Machine:
    """A clock and a folder as /proc, in which threads wait."""

    def __init__(self, at: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at, self.seconds = at / "7" / "task", 100.0
        monkeypatch.setattr(host_time.time, "monotonic", lambda: self.seconds)

    def passes(self, wall: float, **waited: float) -> None:
        self.seconds += wall
        for thread, seconds in waited.items():
            (self.at / thread).mkdir(parents=True, exist_ok=True)
            (self.at / thread / "schedstat").write_text(f"12 {int(seconds * 1e9)} 3\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_what_threads_wait_for_a_core_does_not_count(machine: Machine, tmp_path: Path) -> None:
    machine.passes(0, one=50.0, two=1.0)
    clock = HostTime(7, tmp_path)
    machine.passes(4, one=52.0)
    assert clock.now() == pytest.approx(2)
    machine.passes(4, one=52.5, two=1.5)
    assert clock.now() == pytest.approx(5)
    machine.passes(4, three=1.0)  # a new one; of those that sleep nothing is taken off
    assert clock.now() == pytest.approx(8)


def test_a_limit_lasts_at_most_four_times_as_long(machine: Machine, tmp_path: Path) -> None:
    """Or else a function that starts threads which never get a core would run for ever."""
    machine.passes(0, one=0.0)
    clock = HostTime(7, tmp_path)
    for second in range(1, 41):
        machine.passes(2, one=2.0 * second, two=2.0 * second)
        assert clock.now() >= 2 * second / MOST
    assert clock.now() == pytest.approx(80 / MOST)


def test_a_thread_that_ends_takes_nothing_back(machine: Machine, tmp_path: Path) -> None:
    machine.passes(0, one=0.0, two=3.0)
    clock = HostTime(7, tmp_path)
    machine.passes(4, one=1.0)
    assert clock.now() == pytest.approx(3)
    (machine.at / "two" / "schedstat").unlink()
    machine.passes(4, one=2.0)
    assert clock.now() == pytest.approx(6)


def test_a_machine_that_does_not_tell_has_a_wall_clock(machine: Machine, tmp_path: Path) -> None:
    clock = HostTime(8, tmp_path)
    machine.passes(4)
    assert clock.now() == pytest.approx(4)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells for how long a thread has waited for a core")
def test_threads_of_this_process_are_seen() -> None:
    clock = HostTime()
    assert str(threading.get_native_id()) in clock._waits()


def test_a_run_ends_at_its_limit_and_not_before() -> None:
    began = time.monotonic()
    with pytest.raises(TimeLimit, match="did not end within 1 s"):
        run(spins, ranks=2, on="virtual", timeout=1)
    assert time.monotonic() - began > 1


def spins() -> None:
    from torch import distributed as dist

    while True:
        dist.barrier()


def talks_for(seconds: float) -> None:
    from torch import distributed as dist

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        dist.barrier()


def waits_for_a_run_of_its_own(_: object) -> bytes:
    run(talks_for, 3.0, ranks=1, timeout=60)
    return b"done"


def test_who_waits_for_a_nested_run_is_not_stuck() -> None:
    """On a busy machine a test that a learner had written was "stuck", while the runs that it asks for went on."""
    job = Job.pack(waits_for_a_run_of_its_own, (), {}, 1, own={0: pickled.packed(None)}, raw=True, nests=True)
    assert run_virtual(job, find("dgx-a100"), patience=1.0).values == [b"done"]
