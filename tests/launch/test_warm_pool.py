"""Spares forked ahead: the next run takes them, each is used once, and a run never fails for them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pool_cases as cases
import pytest
from server_children import children, killed, pid, ranks, settled

from lockstep import machines
from lockstep.forking import starter
from lockstep.forking.fork_request import Request
from lockstep.forking.preforked import MOST, Slots, WarmPool, Wish, is_ready, waits
from lockstep.launch.job import Job
from lockstep.launch.processes import run_processes
from lockstep.this_machine import host
from lockstep.virtual import run_virtual

HERE = Path(__file__).resolve().parent
PKG = HERE.parents[1] / "pkg"


@pytest.fixture(autouse=True)
def without_pytest() -> Iterator[None]:
    """pytest notes test and phase in the environment, and another environment is another pool's."""
    yield
    os.environ["PYTEST_CURRENT_TEST"] = "for pytest to remove"


def run(fn, *args, ranks=2, **options):
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    return run_processes(Job.pack(fn, args, {}, ranks, **options)).values


@pytest.fixture(autouse=True, scope="module")
def a_server_of_its_own() -> Iterator[None]:
    """Without the spares of earlier tests: they are counted here."""
    with pytest.MonkeyPatch.context() as patch:
        fresh = starter.Starter()
        patch.setattr(starter, "_starter", fresh)
        yield
        fresh.close()


@pytest.fixture
def pool() -> Iterator[list[int]]:
    """Two spares that wait."""
    run(cases.process)
    yield settled(2)
    assert run(cases.environment) == [([r, r, 2, 2], r, 2, "gloo") for r in (0, 1)]


@pytest.mark.slow
def test_the_next_run_takes_the_spares_by_rank(pool) -> None:
    assert run(cases.process) == pool
    assert ranks() == []
    assert set(settled(2)).isdisjoint(pool)


@pytest.mark.slow
def test_a_spare_is_used_once(pool) -> None:
    """What a run leaves behind in its process, the next one does not find."""
    assert run(cases.mark) == [False, False]
    settled(2)
    assert run(cases.mark) == [False, False]


@pytest.mark.slow
def test_a_spare_is_like_a_fresh_fork(pool, monkeypatch) -> None:
    of_spares = run(cases.state)
    monkeypatch.setenv("FRUIT", "apple")
    for of_spare, of_fork in zip(of_spares, run(cases.state), strict=True):
        for what, found in of_fork.items():
            assert of_spare[what] == found, what
    assert run(cases.draw, seed=3) == run(cases.draw, seed=3)


@pytest.mark.slow
def test_a_spare_communicates_without_a_record(pool) -> None:
    assert run(cases.total, record=False) == [1.0, 1.0]


@pytest.mark.slow
def test_the_virtual_cluster_has_a_spare_of_its_own(monkeypatch) -> None:
    """One process for all its ranks; and both kinds wait side by side."""
    os.environ.pop("PYTEST_CURRENT_TEST")
    fresh = starter.Starter()
    monkeypatch.setattr(starter, "_starter", fresh)
    run(cases.process)
    run_virtual(Job.pack(cases.process, (), {}, 3), machines.find("dgx-a100"))
    both = settled(3)
    (spare,) = set(both) - set(run(cases.process))
    assert run_virtual(Job.pack(cases.process, (), {}, 3), machines.find("dgx-a100")).values == [spare] * 3
    settled(3)
    fresh.close()


@pytest.mark.slow
@pytest.mark.skipif(host.cores().affinity == 1, reason="this machine gives one core")
def test_a_spare_may_use_all_cores_after_a_virtual_cluster_that_moved(monkeypatch) -> None:
    """It sent the fork server to its own core (test_supervisor.py), where the spares of all later runs began."""
    os.environ.pop("PYTEST_CURRENT_TEST")
    fresh = starter.Starter()
    monkeypatch.setattr(starter, "_starter", fresh)
    run_virtual(Job.pack(cases.move_the_cluster, (os.sched_getaffinity(0),), {}, 1), machines.find("dgx-a100"))
    run(cases.process)
    settled(3)
    assert run(cases.cores) == [host.cores().affinity] * 2
    fresh.close()


@pytest.mark.slow
def test_another_environment_gets_fresh_forks(pool, monkeypatch) -> None:
    monkeypatch.setenv("FRUIT", "apple")
    (first, second) = run(cases.variable, "FRUIT")
    assert first == second == "apple"
    assert all(map(killed, pool))
    settled(2)
    assert run(cases.variable, "FRUIT") == ["apple", "apple"]
    monkeypatch.delenv("FRUIT")
    assert run(cases.variable, "FRUIT") == [None, None]


def test_the_directory_and_the_import_path_are_those_of_the_run(pool, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert run(cases.whereabouts) == [(str(tmp_path), str(tmp_path))] * 2
    assert all(map(killed, pool))


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3])
def test_another_number_of_ranks_gets_fresh_forks(pool, number: int) -> None:
    assert len(set(run(cases.process, ranks=number)) - set(pool)) == number
    settled(number)


def test_many_ranks_have_no_spares() -> None:
    assert len(set(run(cases.process, ranks=MOST + 1))) == MOST + 1
    settled(0)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_spare_that_was_killed_or_stopped_is_no_harm(pool, sign) -> None:
    os.kill(pool[1], sign)
    assert set(run(cases.process)).isdisjoint(pool)
    assert all(map(killed, pool))


def test_a_company_that_has_lost_one_goes_as_a_whole(pool) -> None:
    os.kill(pool[0], signal.SIGKILL)
    settled(0)


def test_a_spare_that_dies_while_the_run_asks_for_it(pool) -> None:
    """The server hears of both at the same time."""
    found: list[list[int]] = []
    os.kill(pid(), signal.SIGSTOP)
    thread = threading.Thread(target=lambda: found.append(run(cases.process)))
    thread.start()
    os.kill(pool[0], signal.SIGKILL)
    os.kill(pid(), signal.SIGCONT)
    thread.join(60)
    assert set(found[0]).isdisjoint(pool)


def test_a_run_that_fails_has_spares_too(pool) -> None:
    with pytest.raises(Exception, match="rank 0 ended with exit status 3"):
        run(cases.leaves)
    assert ranks() == []
    settled(2)


def test_the_server_has_one_thread_when_it_forks(pool) -> None:
    assert len(os.listdir(f"/proc/{pid()}/task")) == 1


def test_a_spare_has_no_file_of_another(pool) -> None:
    """Its connections to the other spare are not those of the server."""
    sockets = {p: {os.readlink(f"/proc/{p}/fd/{fd}") for fd in os.listdir(f"/proc/{p}/fd")} for p in [pid(), *pool]}
    first, second, third = ({name for name in found if name.startswith("socket")} for found in sockets.values())
    assert first.isdisjoint(second | third)
    assert second.isdisjoint(third)


def test_the_notebook_has_no_file_of_a_spare(pool) -> None:
    files = len(os.listdir("/proc/self/fd"))
    run(cases.process)
    assert len(os.listdir("/proc/self/fd")) == files


def test_what_a_kill_leaves_unfinished_the_next_run_awaits(pool) -> None:
    """A run returns when its ranks are killed; the system still clears their memory. The next run finds it free."""
    before = run(cases.process)
    run(cases.process)
    assert set(before).isdisjoint(children())


def test_a_request_that_is_taken_back_leaves_the_server_well(pool) -> None:
    forked = starter._starter._server
    assert isinstance(forked, starter.Forked)
    os.environ.pop("PYTEST_CURRENT_TEST")
    told = starter.setup("lockstep.launch.rank_process:main", None)
    child = forked._ask(Request("lockstep.launch.rank_process:main", 0, 2), told)
    socket.send_fds(forked._socket, [Request("lockstep.launch.rank_process:main", -1, 2).packed()], [])
    with pytest.raises(BrokenPipeError):
        forked._hear(child)
    child.close()


def gone(process: int) -> bool:
    """Whether the process ends within ten seconds."""
    for _ in range(500):
        if killed(process):
            return True
        threading.Event().wait(0.02)
    return False


PARENT = """
import sys, time
import pool_cases
from lockstep import run
run(pool_cases.nothing, ranks=2, on="processes")
from server_children import settled
print(*settled(2), flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_spares_end_with_the_notebook() -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(PKG)])}
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=env, text=True)
    assert parent.stdout
    found = [int(p) for p in parent.stdout.readline().split()]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert len(found) == 2
    assert all(map(gone, found))


def test_a_reserve_gives_back_what_nobody_needed() -> None:
    """In an interpreter of its own: this one has threads, and must not fork."""
    script = """
import json, os, time
from lockstep.forking.preforked import Wish, waits
from lockstep.forking.preforked import QUIET, REST, Slots
import launch_entries
reserve = Slots(os.setsid)
wish = Wish("launch_entries:echo", 2, json.dumps(dict(os.environ)))
assert reserve.patience() is None
assert reserve.take(wish) is None
assert reserve.patience() == QUIET
reserve.tend()
assert reserve.patience() == REST
pool = reserve._pools[wish.entry]
pids = list(pool._ends)
assert len(pids) == 2 and all(map(waits, pids))
reserve.tend()
assert reserve.patience() is None
print([os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in pids])
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(PKG)])}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout == "[-9, -9]\n"


def test_spares_give_way_where_processes_are_limited() -> None:
    """The system refuses a process: the spares go, and it is asked again. Without spares the refusal is told."""
    script = """
import errno, json, os, socket
from lockstep.forking.preforked import Wish
from lockstep.forking.forkserver import Server
import launch_entries
fork = os.fork
server = Server(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0], os.getpid())
server._slots.take(Wish("launch_entries:echo", 2, json.dumps(dict(os.environ))))
server._slots.tend()
spares = list(server._slots._pools["launch_entries:echo"]._ends)
def limited():
    if spares_alive():
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
    pid = fork()
    return pid if pid else os._exit(7)
def spares_alive():
    return any(os.path.exists(f"/proc/{pid}") for pid in spares)
os.fork = limited
pid = server._fork(0, 1, 2)
print(pid > 0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), server._slots.patience())
spares = [os.getpid()]
print(server._fork(0, 1, 2) == -errno.EAGAIN)
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(PKG)])}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout == "True 7 None\nTrue\n"


def test_an_entry_that_prepares_nothing_has_no_spares() -> None:
    reserve = Slots(os.setsid)
    assert reserve.take(Wish("launch_server_children:none", 2, "{}")) is None
    assert reserve.patience() is None


@pytest.mark.slow
def test_who_makes_one_run_of_each_kind_has_no_spares() -> None:
    """A sandbox runs each world size once or twice. Behind each run its server forked as many spares, which rehearsed,
    and were thrown away at the next one."""
    script = """
import time
from lockstep.launch import server
from lockstep.launch.job import Job
from lockstep.launch.processes import run_processes
import launch_entries
import pool_cases as cases
from server_children import spares
server.inherit()
for _ in range(2):
    run_processes(Job.pack(cases.process, (), {}, 2))
    time.sleep(10 * 0.05)
    print(spares())
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(PKG)])}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=120)
    assert (done.stderr, done.stdout) == ("", "[]\n[]\n")


@pytest.mark.slow
def test_a_company_that_is_gone_is_told_by_the_hand_over() -> None:
    pool, (ours, theirs) = WarmPool(Wish("", 1, "{}")), socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pool.add(1, ours)
    assert not is_ready(ours)
    theirs.close()
    with pytest.raises(OSError, match="Broken pipe"):
        pool.hand_over([(0, 0)])
    pool.close()


@pytest.mark.slow
def test_a_process_that_has_ended_does_not_wait() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert waits(child.pid)
    os.kill(child.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
    assert not waits(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not waits(child.pid)
    child.communicate()
