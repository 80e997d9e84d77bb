"""Everything that learners' functions do wrong on real processes: a named error in time, and the next call works."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import failure_cases as cases
import pytest
import server_children

from lockstep.errors import (
    Deadlock,
    Mismatch,
    RankDied,
    RankRaised,
    RunError,
    Stuck,
    TimeLimit,
    Unmatched,
    WorldUnavailable,
)
from lockstep.forking import starter
from lockstep.launch import processes
from lockstep.launch.job import Job
from lockstep.launch.processes import run_processes

PKG = Path(__file__).resolve().parents[2] / "pkg"


def run(fn, *args, ranks=4, **options):
    return run_processes(Job.pack(fn, args, {}, ranks, **options))


@pytest.fixture(autouse=True)
def then_a_good_call():
    yield
    assert run(cases.good).values == [4.0] * 4


def error_of(kind, fn, *args, **options):
    with pytest.raises(kind) as caught:
        run(fn, *args, **options)
    error = caught.value
    assert "site-packages" not in str(error)
    assert "lockstep/" not in str(error)
    assert error.trace is not None
    assert error.trace.ranks == 4
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    return error


def states(error):
    return [s.state for s in error.states]


def assert_peers_were_caught(error, rank, state):
    """The cause is ``rank``; its peers wait for it, or are on their way there: on a busy machine they come late."""
    mine, others = states(error)[rank], set(states(error)) - {state}
    assert mine == state
    assert others <= {"waiting", "computing"}


def places(error, function, line):
    """Whether every rank_state with a place is in that function, at that line's text."""
    told = [s for s in error.states if s.where]
    assert told
    for s in told:
        assert s.where.startswith("failure_cases.py, line ")
        assert s.where.endswith(f", in {function}")
        assert s.source == line


# ---- exceptions


def test_an_exception_names_the_rank_and_the_line():
    error = error_of(RankRaised, cases.raise_on_one)
    first, *rest = error.message.splitlines()
    assert first == "rank 2 raised ValueError: bad shape in my_all_reduce"
    assert rest[0].endswith("in raise_on_one")
    assert rest[1].strip() == 'raise ValueError("bad shape in my_all_reduce")'
    assert_peers_were_caught(error, 2, "raised")
    assert [s.waits_for for s in error.states] == [(2,), (2,), (), (2,)]
    assert error.states[0].operation == "all_reduce on ranks 0, 1, 2, 3"


@pytest.mark.slow
def test_an_exception_on_every_rank():
    error = error_of(RankRaised, cases.raise_on_all)
    assert "ZeroDivisionError: division by zero" in error.message.splitlines()[0]
    assert states(error) == ["raised"] * 4


def test_an_exception_while_peers_wait():
    error = error_of(RankRaised, cases.raise_after_peers_wait_long)
    assert error.message.startswith("rank 0 raised KeyError: 'late'")
    assert states(error) == ["raised", "waiting", "waiting", "waiting"]


def test_an_exception_that_cannot_be_pickled():
    assert "Odd: odd" in error_of(RankRaised, cases.raises_something_odd).message


def test_sys_exit():
    error = error_of(RankRaised, cases.sys_exit)
    assert error.message.startswith("rank 1 raised SystemExit: bye")


def test_a_value_that_cannot_be_sent_back():
    error = error_of(RankRaised, cases.returns_a_lock)
    assert "the dict that was returned cannot be sent back: cannot pickle '_thread.lock' object" in error.message


# ---- processes that end


def test_os_exit():
    error = error_of(RankDied, cases.os_exit)
    assert error.message == "rank 1 ended with exit status 3."
    assert_peers_were_caught(error, 1, "died")


def test_a_segmentation_fault():
    assert error_of(RankDied, cases.segmentation_fault).message == "rank 1 was killed by SIGSEGV: segmentation fault."


@pytest.mark.parametrize("case", [cases.killed, cases.killed_before_a_ring])
def test_a_rank_that_is_killed_is_the_cause_and_not_its_peers(case):
    error = error_of(RankDied, case)
    assert error.message.startswith("rank 1 was killed by SIGKILL: by ")
    assert states(error)[1] == "died"


def test_a_kill_by_hand_is_not_said_to_be_want_of_memory(monkeypatch):
    """Any SIGKILL was told as "out of memory?", also one that a person had sent."""
    for starved, told in (
        (True, "rank 1 was killed by SIGKILL: the system was out of memory."),
        (False, "rank 1 was killed by SIGKILL: by kill -9, as it seems, since the kernel has killed nothing here for "
                "want of memory."),
        (None, "rank 1 was killed by SIGKILL: by the system when memory is short, or by kill -9."),
    ):  # fmt: skip
        monkeypatch.setattr(processes.MemoryKills, "since", lambda now, before, starved=starved: starved)
        assert error_of(RankDied, cases.killed).message == told


def test_a_rank_that_stops_itself_is_told_with_its_line():
    """It "has finished", and "something outside of the program" had stopped it. It goes on for a moment, in which it
    writes its stack."""
    error = error_of(Stuck, cases.stops_itself)
    at = "failure_cases.py, line 185, in stops_itself: os.kill(os.getpid(), signal.SIGSTOP)"
    assert error.message == f"Stuck: rank 1 is stopped at {at}. Its process got a SIGSTOP."
    assert f"  rank 1 is stopped at {at}\n" in str(error)
    assert error.remedy.startswith("Was it a line of the program, such as os.kill?")


def test_a_signal_without_a_name():
    """``signal.Signals(40)`` raised a ValueError out of run()."""
    assert error_of(RankDied, cases.killed_by_a_real_time_signal).message == "rank 1 was killed by signal 40."


@pytest.mark.slow
def test_ranks_that_end_with_their_fork_server_are_not_out_of_memory():
    """The first of them was said to have been killed for want of memory; nobody spoke of the server."""
    error = error_of(RankDied, cases.kills_its_fork_server)
    assert "was killed with its fork server, the process that starts ranks, which was killed: by " in error.message
    assert error.exit.kind == "orphaned"


# ---- deadlocks


def test_a_ring_of_sends():
    error = error_of(Deadlock, cases.ring_of_sends)
    assert "rank 0 waits for rank 1, rank 1 waits for rank 2" in error.message
    assert [s.operation for s in error.states] == [f"send(dst={r})" for r in (1, 2, 3, 0)]
    assert [s.waits_for for s in error.states] == [(1,), (2,), (3,), (0,)]
    places(error, "ring_of_sends", "dist.send(x, (rank + 1) % world)")
    assert error.trace.sent().number == 4


def test_a_rank_that_skips_a_collective():
    error = error_of(Deadlock, cases.one_skips_a_barrier)
    assert states(error) == ["waiting", "waiting", "waiting", "finished"]
    assert "rank 3, whose function has already returned" in error.message


def test_a_recv_of_nothing():
    error = error_of(Deadlock, cases.recv_of_nothing)
    assert error.states[1].operation == "recv(src=2, tag=5)"
    assert error.states[1].waits_for == (2,)


def test_a_recv_from_any():
    error = error_of(Deadlock, cases.recv_from_any)
    assert error.states[1].operation == "recv(src=any)"
    assert error.states[1].waits_for == (0, 2, 3)


def test_a_wait_is_named_where_it_stands():
    error = error_of(Deadlock, cases.wait_inside_a_helper)
    places(error, "helper", "work.wait()")


def test_a_wait_in_a_deep_recursion():
    places(error_of(Deadlock, cases.wait_in_a_deep_recursion), "ring_of_sends", "dist.send(x, (rank + 1) % world)")


def test_a_functional_collective():
    error = error_of(Deadlock, cases.functional_deadlock)
    assert states(error) == ["finished", "waiting", "waiting", "waiting"]
    assert error.states[1].waits_for == (0,)


def test_a_backward_pass_of_ddp():
    error = error_of(Deadlock, cases.ddp_deadlock)
    assert states(error) == ["finished", "waiting", "waiting", "waiting"]
    places(error, "ddp_deadlock", "loss.backward()")


def test_a_subgroup():
    error = error_of(Deadlock, cases.subgroup_deadlock)
    assert error.states[2].operation == "all_reduce on ranks 1, 2"
    assert error.states[2].waits_for == (1,)


def test_some_ranks_after_some_traffic():
    error = error_of(Deadlock, cases.two_deadlock_after_some_traffic)
    assert states(error) == ["waiting", "waiting", "finished", "finished"]
    assert len(error.trace.of_kind("all_reduce")) == 4
    assert len({e.message for e in error.trace.of_kind("all_reduce")}) == 1


def test_what_was_printed_before_is_kept(capsys):
    error = error_of(Deadlock, cases.prints_before_a_deadlock)
    lines = [f"[rank {r}] {text}" for r in range(4) for text in ("about to wait", "without an end")]
    assert sorted(error.printed.splitlines()) == lines
    assert sorted(capsys.readouterr().out.splitlines()) == lines


@pytest.mark.slow
@pytest.mark.parametrize("case", [cases.computing_straggler, cases.blocked_on_a_pipe])
def test_a_straggler_is_no_deadlock(case):
    assert run(case).values == [4.0] * 4


def test_a_sleeping_straggler_is_no_deadlock():
    assert run(cases.sleeping_straggler, 2.5).values == [4.0] * 4


# ---- collectives and messages that do not fit


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("case", "told"),
    [
        (cases.different_collectives, "called different collectives"),
        (cases.different_shapes, "all_reduce with arguments that do not fit"),
        (cases.different_large_shapes, "all_reduce with arguments that do not fit"),
        (cases.different_dtypes, "all_reduce with arguments that do not fit"),
        (cases.different_roots, "broadcast with arguments that do not fit"),
        (cases.uneven_all_gather, "all_gather with arguments that do not fit"),
    ],
)
def test_mismatched_collectives(case, told):
    error = error_of(Mismatch, case)
    assert told in error.message
    assert len(error.states) == 4
    assert all(s.where and s.operation for s in error.states)


def test_mismatch_names_what_each_rank_called():
    error = error_of(Mismatch, cases.different_dtypes)
    assert "4 elements of float64" in error.states[0].operation
    assert "4 elements of float32" in error.states[1].operation


@pytest.mark.parametrize(("case", "room"), [(cases.too_small_a_buffer, 4), (cases.too_large_a_buffer, 8)])
def test_a_buffer_of_another_size(case, room):
    error = error_of(Mismatch, case)
    assert f"rank 1 has room for {room} elements of float32" in error.message


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("case", "told"),
    [
        (cases.lost_isend, "rank 0 sent a message that nobody received"),
        (cases.lost_irecv, "rank 0 posted a receive that nobody served"),
        (cases.collective_of_one, "rank 0 called all_reduce, which other ranks never joined"),
    ],
)
def test_unmatched(case, told):
    error = error_of(Unmatched, case)
    assert told in error.message
    assert error.states[0].where


# ---- time


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("case", "line"),
    [
        (cases.endless_loop, "while dist.get_rank() == 1:"),
        (cases.endless_loop_in_c, "sum(iter(int, 1))"),
        (cases.endless_polling, "while not work.is_completed():"),
    ],
)
def test_an_endless_loop_is_named(case, line):
    error = error_of(Stuck, case, timeout=1.5)
    doing = "polled recv(src=0)" if case is cases.endless_polling else "done no operation"
    assert f"rank 1 has {doing} for" in error.message
    assert error.states[1].source in (line, "pass")
    assert error.states[1].state == "computing"


@pytest.mark.slow
def test_endless_communication_runs_out_of_time():
    error = error_of(TimeLimit, cases.endless_ping_pong, timeout=1.5)
    assert error.message == "The run did not end within 2 s."
    assert len(error.trace) > 100


def test_a_function_that_swallows_every_exception():
    error_of(Stuck, cases.swallow_everything, timeout=1.5)


@pytest.mark.slow
def test_ctrl_c_ends_the_ranks():
    starter.warm_up()  # or else there is none yet whose ranks could be found
    found: list[int] = []

    def interrupt():
        while not found:
            found.extend(server_children.ranks())
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(cases.swallow_everything)
    thread.join()
    assert found
    assert server_children.ranks() == []


# ---- this machine


def test_no_room_for_files(monkeypatch):
    monkeypatch.setattr(processes.tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(WorldUnavailable) as caught:
        run(cases.good)
    assert caught.value.message.startswith("There is no room for the files of a run (")
    assert caught.value.message.endswith(": No space left on device).")
    monkeypatch.undo()


def refuse(*args, **kwargs):
    raise OSError(28, "No space left on device")


@pytest.mark.slow
def test_a_limit_of_processes_is_one_sentence():
    body = """
    import resource
    from lockstep.errors import WorldUnavailable
    from lockstep.launch.job import Job
    from lockstep.launch.processes import run_processes
    import failure_cases
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
    try:
        run_processes(Job.pack(failure_cases.good, (), {}, 64))
    except WorldUnavailable as error:
        print(error.message)
    print(run_processes(Job.pack(failure_cases.good, (), {}, 2)).values)
    """
    path = os.pathsep.join([str(PKG), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(body)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [done.stdout.splitlines()[0], "[2.0, 2.0]"]
    assert "refused process" in done.stdout


def test_a_rank_that_cannot_join_is_not_the_learners_fault(monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "no-such-interface")
    with pytest.raises(WorldUnavailable, match="could not join the others"):
        run(cases.good)
    monkeypatch.undo()


def test_errors_of_a_run_are_run_errors():
    assert issubclass(Deadlock, RunError)
    with pytest.raises(RunError):
        run(cases.raise_on_all)
