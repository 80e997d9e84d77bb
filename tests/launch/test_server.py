"""The fork server: children in milliseconds, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from pathlib import Path

import psutil
import pytest

from lockstep.errors import WorldUnavailable
from lockstep.forking import starter as server
from lockstep.forking.child import FAULT, Child
from lockstep.forking.starter import start

HERE = "launch_entries"
BESIDE = Path(__file__).resolve().parent
PKG = BESIDE.parents[1] / "pkg"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BESIDE))


@pytest.fixture
def begin() -> Iterator[Callable[..., list[Child]]]:
    started: list[Child] = []

    def begin(name: str, n: int = 1, **env: str) -> list[Child]:
        children = start(f"{HERE}:{name}", n, env)
        started.extend(children)
        return children

    yield begin
    for child in started:
        child.close()


def gone(pid: int) -> bool:
    """Whether the process ends within five seconds."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True  # it may also end between the two looks
        time.sleep(0.05)
    return False


def server_pid() -> int:
    running = server._starter._server
    assert isinstance(running, server.Forked)
    return running.pid


def test_children_know_their_caller(begin, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FRUIT", "apple")
    told = [c.conn.recv() for c in begin("tell", 3)]
    assert len({t["pid"] for t in told}) == 3
    for t in told:
        assert t["session"] == t["pid"]
        assert t["parent"] == server_pid()
        assert t["cwd"] == str(tmp_path)
        assert t["path"] == sys.path
        assert t["fruit"] == "apple"
        assert t["torch"]
        assert t["interrupt"]
        assert t["main"] is None  # the caller's __main__ is not imported anew
    assert begin("tell", FRUIT="pear")[0].conn.recv()["fruit"] == "pear"


def test_no_file_of_another_child_is_inherited(begin):
    begin("echo", 3)
    (child,) = begin("tell")
    files = child.conn.recv()["files"]
    assert files[:3] == [0, 1, 2]
    assert len(files) == 5  # and its connection, and the directory that it lists


def test_the_server_has_one_thread(begin):
    begin("echo", 2)
    assert len(os.listdir(f"/proc/{server_pid()}/task")) == 1


def test_messages_and_exit_status(begin):
    children = begin("leave", 3)
    assert [c.poll() for c in children] == [None, None, None]
    for status, child in enumerate(children):
        child.conn.send(status)
    assert [c.wait(10) for c in children] == [0, 1, 2]
    (child,) = begin("leave")
    child.conn.send("a message")
    assert child.wait(10) == 1


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_death_by_signal_is_told(begin, sign):
    (child,) = begin("suicide")
    child.conn.send(sign)
    assert wait([child], 10) == [child]
    assert child.exitcode == -sign


def test_what_c_code_writes_lands_in_the_log(begin, capfd):
    (child,) = begin("noisy")
    assert child.wait(10) == 0
    assert child.tail() == "from C: one\nfrom C: two\n"
    assert Path(child.log).read_text() == child.tail()
    assert capfd.readouterr() == ("", "")


def test_an_entry_that_raises(begin):
    (child,) = begin("fail")
    assert child.wait(10) == FAULT
    assert "ValueError: said in the log" in child.tail()
    assert re.fullmatch(r"ValueError: said in the log \([a-z_]+\.py, line \d+, in fail\)", child.fault)


def test_kill_takes_grandchildren_too(begin):
    (child,) = begin("with_grandchild")
    grandchild = child.conn.recv()
    child.kill()
    assert child.wait(10) == -signal.SIGKILL
    assert gone(grandchild)


def test_a_child_that_ends_leaves_no_grandchild(begin):
    (child,) = begin("with_grandchild")
    grandchild = child.conn.recv()
    child.conn.send("go")
    assert child.wait(10) == 0
    assert gone(grandchild)


@pytest.mark.parametrize("end", ["returns", "killed", "closed"])
def test_a_daemon_ends_with_the_child_that_has_started_it(begin, end):
    """A process in a session of its own, and one whose parent had ended, went on for ever: signals to the child's
    process group did not reach them."""
    (child,) = begin("with_daemons")
    daemons = child.conn.recv()
    assert all(map(psutil.pid_exists, daemons))
    child.close() if end == "closed" else child.conn.send(end)
    assert [gone(d) for d in daemons] == [True, True]


def test_other_children_and_spares_outlive_what_was_left_behind(begin):
    (mine,) = begin("echo")
    (child,) = begin("with_daemons")
    daemons = child.conn.recv()
    child.close()
    assert all(map(gone, daemons))
    mine.conn.send("still here")
    assert mine.conn.recv() == "still here"


def test_a_dropped_child_is_killed(begin):
    children = start(f"{HERE}:sleep", 1)
    pid = children[0].conn.recv()
    del children
    assert gone(pid)


@pytest.mark.slow
def test_the_server_comes_back_after_it_was_killed_and_says_so(begin, capfd):
    (child,) = begin("sleep")
    pid = child.conn.recv()
    before = server_pid()
    os.kill(before, signal.SIGKILL)
    assert child.wait(10) == -signal.SIGKILL
    assert gone(pid)
    (again,) = begin("echo")
    again.conn.send("well")
    assert again.conn.recv() == "well"
    assert server_pid() != before
    assert capfd.readouterr().err == server._LOST + "\n"


def test_many_threads_may_call(begin):
    answers: list[int] = []

    def one(i: int) -> None:
        (child,) = begin("echo")
        child.conn.send(i)
        answers.append(child.conn.recv())

    threads = [threading.Thread(target=one, args=(i,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert sorted(answers) == list(range(6))


@pytest.mark.slow
def test_a_fork_of_the_caller_starts_a_server_of_its_own(begin):
    (mine,) = begin("echo")
    pid = os.fork()
    if pid == 0:
        try:
            (child,) = start(f"{HERE}:echo", 1)
            child.conn.send("from the fork")
            right = child.conn.recv() == "from the fork"
            server._starter.close()
            os._exit(0 if right else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    mine.conn.send("still here")
    assert mine.conn.recv() == "still here"


PARENT = """
import sys, time
from lockstep.launch import server
(child,) = server.start(f"launch_entries:{sys.argv[1]}", 1)
starter = server._starter._server
told = child.conn.recv()
print(getattr(starter, "pid", child.pid), child.pid, *(told if isinstance(told, list) else [told]), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("way", "entry"),
    [
        ("fork", "with_grandchild"),
        pytest.param("fork", "with_daemons", marks=pytest.mark.slow),
        pytest.param("spawn", "with_grandchild", marks=pytest.mark.slow),
    ],
)
def test_everything_ends_with_a_parent_that_is_killed(way, entry):
    path = os.pathsep.join([str(BESIDE), str(PKG)])
    env = {**os.environ, "PYTHONPATH": path, "LOCKSTEP_START": way}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, entry], stdout=subprocess.PIPE, env=env, text=True)
    assert parent.stdout
    pids = [int(p) for p in parent.stdout.readline().split()]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert len(pids) == 3 + (entry == "with_daemons")
    assert all(map(gone, pids))


@pytest.mark.slow
def test_a_machine_that_refuses_a_process_says_so():
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
    body = """
from lockstep.launch import server
from lockstep.errors import WorldUnavailable
try:
    server.start("launch_entries:echo", 64)
except WorldUnavailable as error:
    print(error.message)
print(server.start("launch_entries:echo", 1)[0].poll())
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(BESIDE), str(PKG)])}
    out = subprocess.run([sys.executable, "-c", limit + body], env=env, capture_output=True, text=True, timeout=60)
    assert out.stderr == ""
    assert out.stdout.splitlines()[0].endswith("of 64: Too many open files.")
    assert out.stdout.splitlines()[1] == "None"


def test_a_server_that_cannot_start_is_one_sentence(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr(server, "_starter", server.Starter())
    with pytest.raises(WorldUnavailable, match="did not come up: it ended at once"):
        start(f"{HERE}:echo", 1)


@pytest.mark.slow
def test_spawned_spares_serve_behind_the_same_call(begin, monkeypatch):
    fresh = server.Starter()
    monkeypatch.setattr(server, "_starter", fresh)
    monkeypatch.setenv("LOCKSTEP_START", "spawn")
    first, second = begin("tell", 2)
    told = first.conn.recv()
    assert told["pid"] == first.pid == told["session"]
    assert told["torch"]
    assert told["interrupt"]
    assert told["parent"] == os.getpid()
    assert first.wait(10) == second.wait(10) == 0
    (third,) = begin("suicide")
    third.conn.send(signal.SIGKILL)
    assert third.wait(20) == -signal.SIGKILL
    (fourth,) = begin("noisy")
    assert fourth.wait(20) == 0
    assert fourth.tail() == "from C: one\nfrom C: two\n"
    log = fourth.log
    fourth.close()
    assert not os.path.exists(log)
    fresh.close()


@pytest.fixture
def starter() -> Iterator[server.Starter]:
    made = server.Starter()
    yield made
    made.close()


@pytest.mark.skipif(not server.forks(), reason="nothing is started ahead where children are spawned")
class TestAhead:
    """``begin``: the server loads torch while nobody waits for it."""

    @pytest.mark.slow
    def test_the_first_children_are_the_servers_that_has_begun(self, starter):
        starter.begin()
        begun = starter._server.pid
        assert not starter._server.ready
        (child,) = starter.start(f"{HERE}:tell", 1)
        assert child.conn.recv()["parent"] == begun
        child.close()

    def test_it_ends_at_once_if_nobody_ever_runs(self, starter):
        starter.begin()
        begun = starter._server.pid
        starter.close()
        assert gone(begun)

    @pytest.mark.slow
    def test_one_that_was_killed_meanwhile_is_replaced(self, starter):
        starter.begin()
        begun = starter._server.pid
        os.kill(begun, signal.SIGKILL)
        assert gone(begun)
        (child,) = starter.start(f"{HERE}:tell", 1)
        assert child.conn.recv()["parent"] not in (begun, os.getpid())
        child.close()

    @pytest.mark.slow
    @pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false"])
    def test_what_cannot_start_is_told_by_the_first_run_and_not_before(self, starter, monkeypatch, capfd, python):
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", python)
            starter.begin()
            with pytest.raises((WorldUnavailable, OSError)):
                starter.warm_up()
        assert capfd.readouterr() == ("", "")
        starter.warm_up()

    @pytest.mark.slow
    def test_what_a_check_needs_is_loaded_once_and_its_children_have_it(self, starter):
        """Each run of a check imported numba anew, 0.7 s of the CPU."""
        (plain,) = starter.start(f"{HERE}:told_modules", 1)
        assert not {"lockstep.simt.kernels", "numba"} & set(plain.conn.recv())
        starter.warm_up(("lockstep.nowhere", "lockstep.simt.kernels"))
        asked = starter._server.pid
        starter.warm_up(("lockstep.simt.kernels",))
        (child,) = starter.start(f"{HERE}:told_modules", 1)
        assert {"lockstep.simt.kernels", "numba"} <= set(child.conn.recv())
        assert starter._server.pid == asked
        assert psutil.Process(asked).num_threads() == 1
        plain.close()
        child.close()

    @pytest.mark.slow
    def test_one_that_ends_while_it_loads_is_replaced_by_one_that_has_not_loaded_it(
        self, starter, tmp_path, monkeypatch
    ):
        (tmp_path / "ends_its_process.py").write_text("import os\nos._exit(3)\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        starter.warm_up()
        ended = starter._server.pid
        starter.warm_up(("ends_its_process",))
        (child,) = starter.start(f"{HERE}:tell", 1)
        assert child.conn.recv()["parent"] not in (ended, os.getpid())
        child.close()

    @pytest.mark.slow
    def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next_one(self, starter, monkeypatch):
        """Ctrl-C while the server loads."""
        starter.warm_up()
        with monkeypatch.context() as pressed:
            pressed.setattr(server.Forked, "_await", interrupted)
            with pytest.raises(KeyboardInterrupt):
                starter.warm_up(("mailbox",))
        starter.warm_up(("wave",))
        assert starter._server._owed == 0
        (child,) = starter.start(f"{HERE}:told_modules", 1)
        assert {"mailbox", "wave"} <= set(child.conn.recv())
        child.close()


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_caller_whose_stderr_is_no_file():
    """The server was forked from a process whose sys.stderr pytest had replaced: "The virtual cluster has failed:
    io.UnsupportedOperation: fileno"."""
    body = "import io, sys, torch\nfrom lockstep import run\nfrom lockstep.forking import starter\n"
    body += "sys.stderr = io.StringIO()\nstarter.inherit()\n"
    body += "print(*[run(abs, -1, ranks=2, on=world).values for world in ('virtual', 'processes')])\n"
    env = {**os.environ, "PYTHONPATH": str(PKG), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", body], env=env, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("[1, 1] [1, 1]", "")
