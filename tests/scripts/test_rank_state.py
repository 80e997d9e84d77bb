"""What a process has once, each rank has for itself: what one sets, no other one sees, in each world alike."""

import contextlib
import io
import logging
import os
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist

from lockstep import run
from lockstep.cli import main

WORLDS = ["dgx-a100", "processes"]


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What each of two ranks prints, by rank, when it executes ``text`` as a script; then what goes to stderr."""
    monkeypatch.chdir(tmp_path)

    def call(text: str, on: str) -> list[list[str]]:
        begins = "import torch.distributed as dist\nif __name__ == '__main__': dist.init_process_group()\n"
        Path("script.py").write_text(begins + text)
        code = main(["run", "--ranks", "2", "--on", on, "script.py"])
        out, err = capsys.readouterr()
        assert code == 0, err
        tags = [f"[default{rank}]:" for rank in range(2)]
        return [
            [line.removeprefix(tag) for line in [*out.splitlines(), *err.splitlines()] if line.startswith(tag)]
            for tag in tags
        ]

    return call


@pytest.mark.parametrize("on", WORLDS)
class TestInRun:
    """Also of functions."""

    def test_environ(self, on: str) -> None:
        def fn() -> Any:
            rank = dist.get_rank()
            os.environ["MINE"] = str(rank)
            if rank:
                os.environ["ONLY_OF_1"] = "x"
                del os.environ["GONE"]
            dist.barrier()
            seen = [os.getenv("MINE"), os.environ.get("ONLY_OF_1"), "GONE" in os.environ, os.environb[b"MINE"]]
            shell = "echo $MINE,$ONLY_OF_1,$GONE,$RANK"
            return seen, subprocess.run(shell, shell=True, capture_output=True, text=True, check=True).stdout.strip()

        os.environ["GONE"] = "here"
        try:
            assert run(fn, ranks=2, on=on).values == [
                (["0", None, True, b"0"], "0,,here,0"),
                (["1", "x", False, b"1"], "1,x,,1"),
            ]
        finally:
            del os.environ["GONE"]

    def test_cwd_and_umask(self, on: str) -> None:
        def fn() -> Any:
            rank, mine = dist.get_rank(), os.path.realpath(tempfile.mkdtemp())
            before = os.getcwd()
            os.chdir(mine)
            if rank == 1:
                os.umask(0o077)
            dist.barrier()
            Path("file").touch()
            mode = stat.S_IMODE(os.stat(os.path.join(mine, "file")).st_mode)
            with contextlib.chdir(before):
                dist.barrier()
                back = os.getcwd() == before
            return os.getcwd() == mine, back, mode & 0o077 == 0

        old = os.umask(0o022)
        try:
            assert run(fn, ranks=3, on=on).values == [(True, True, False), (True, True, True), (True, True, False)]
        finally:
            os.umask(old)

    def test_a_rank_stays_where_others_leave(self, on: str) -> None:
        def fn() -> Any:
            before, rank = os.getcwd(), dist.get_rank()
            if rank == 0:
                os.chdir("/")
                with contextlib.suppress(OSError):
                    os.chdir("/no/such/folder")
            dist.barrier()
            return os.getcwd() == ("/" if rank == 0 else before)

        assert run(fn, ranks=3, on=on).values == [True] * 3

    def test_logging(self, on: str) -> None:
        def fn() -> Any:
            rank, told = dist.get_rank(), io.StringIO()
            logging.basicConfig(level=[logging.INFO, logging.ERROR][rank], format=f"{rank} %(message)s", stream=told)
            log = logging.getLogger("my.training")
            log.addHandler(logging.StreamHandler(told))
            dist.barrier()
            log.info("begins")
            dist.barrier()
            logging.error("ends")
            logging.getLogger("asyncio").error("as a library")
            return told.getvalue().splitlines(), len(log.handlers), log.isEnabledFor(logging.INFO)

        assert run(fn, ranks=2, on=on).values == [
            (["begins", "0 begins", "0 ends", "0 as a library"], 1, True),
            (["1 ends", "1 as a library"], 1, False),
        ]

    def test_a_signal_handler_can_be_set(self, on: str) -> None:
        """On the virtual cluster it was a ValueError: a rank is no main thread there."""

        def fn() -> Any:
            first = signal.getsignal(signal.SIGUSR2)
            before = signal.signal(signal.SIGUSR2, fn)
            dist.barrier()
            return first == before == signal.SIG_DFL, signal.getsignal(signal.SIGUSR2) is fn

        result = run(fn, ranks=2, on=on)
        assert result.values == [(True, True)] * 2
        told = "The handler of SIGUSR2 at test_rank_state.py, line "
        assert result.printed.count(told) == (on == "dgx-a100")


def test_an_alarm_does_not_end_the_ranks() -> None:
    """The signal's default action would be to kill the process of all ranks."""

    def fn() -> Any:
        signal.alarm(1)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass

    assert "signal.alarm at test_rank_state.py" in run(fn, ranks=1, on="dgx-a100").printed


@pytest.mark.parametrize("on", WORLDS)
class TestInAScript:
    def test_argv_and_path(self, printed: Callable[..., Any], on: str) -> None:
        text = """
import sys
sys.argv.append(str(dist.get_rank()))
sys.path = [*sys.path, f"of {dist.get_rank()}"]
dist.barrier()
print(sys.argv[1:], sys.path[-1])
"""
        assert printed(text, on) == [["['0'] of 0"], ["['1'] of 1"]]

    def test_redirected_output(self, printed: Callable[..., Any], on: str) -> None:
        text = """
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as told:
    dist.barrier()
    print("hidden", dist.get_rank())
    dist.barrier()
print(told.getvalue().strip())
"""
        assert printed(text, on) == [["hidden 0"], ["hidden 1"]]

    def test_the_streams_are_like_pythons(self, printed: Callable[..., Any], on: str) -> None:
        """Programs ask for a line buffer, write bytes, or look for the encoding."""
        text = """
import sys
sys.stdout.reconfigure(line_buffering=True)
sys.stdout.buffer.write("Grüße\\n".encode(sys.stdout.encoding))
sys.stderr.buffer.flush()
print(sys.stdout.isatty())
"""
        assert printed(text, on) == [["Grüße", "False"]] * 2

    @pytest.mark.slow
    def test_processes_that_it_spawns_have_its_environment(self, printed: Callable[..., Any], on: str) -> None:
        text = """
import multiprocessing, os
if __name__ == "__main__":
    os.environ["MINE"] = os.environ["RANK"]
    dist.barrier()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(os.getenv, ("MINE",)))
"""
        assert printed(text, on) == [["0"], ["1"]]

    def test_its_main(self, printed: Callable[..., Any], on: str) -> None:
        text = """
import pickle, sys, __main__
class Mine:
    number = dist.get_rank()
both = [None, None]
dist.all_gather_object(both, Mine())
again = pickle.loads(pickle.dumps(Mine()))
print(type(again) is type(both[0]) is __main__.Mine is Mine, [mine.number for mine in both], __main__.Mine.number)
"""
        assert printed(text, on) == [["True [0, 0] 0"], ["True [1, 1] 1"]]

    def test_exit_handlers(self, printed: Callable[..., Any], on: str) -> None:
        text = """
import atexit, sys, threading, time
rank = dist.get_rank()
atexit.register(print, "first", rank)
@atexit.register
def gone(): print("never")
@atexit.register
def bad(): raise ValueError("bad")
atexit.register(print, "last", rank)
atexit.unregister(gone)
from concurrent.futures import ThreadPoolExecutor
over, pool = threading.Event(), ThreadPoolExecutor(1)
pool.submit(print, "pool").result()
pool.submit(lambda: (over.wait(), time.sleep(0.2), print("pool again")))
threading.Thread(target=lambda: (over.wait(), time.sleep(0.1), print("thread"))).start()
dist.barrier()
print("ends")
over.set()
sys.exit(0)
"""
        for rank, lines in enumerate(printed(text, on)):
            assert lines[:6] == ["pool", "ends", "thread", "pool again", f"last {rank}", f"first {rank}"]
            assert lines[6].startswith("Exception ignored in atexit callback")
            assert lines[-1] == "ValueError: bad"

    def test_the_start_method(self, printed: Callable[..., Any], on: str) -> None:
        """The second rank to choose one was told that the context has already been set."""
        text = """
import torch.multiprocessing as mp
mp.set_start_method(["spawn", "forkserver"][dist.get_rank()])
dist.barrier()
print(mp.get_start_method())
"""
        assert printed(text, on) == [["spawn"], ["forkserver"]]


def test_a_process_that_a_rank_forks_is_none(printed: Callable[..., Any]) -> None:
    """It waited for a baton that only threads of the first process pass on."""
    text = """
import multiprocessing
def start(rank):
    dist.destroy_process_group()
    dist.init_process_group(rank=rank, world_size=2)
p = multiprocessing.get_context("fork").Process(target=start, args=(dist.get_rank(),))
p.start()
p.join()
print(p.exitcode)
"""
    for rank, lines in enumerate(printed(text, "dgx-a100")):
        assert lines[0] == "1"
        told = f"init_process_group: rank {rank} has started this process, which is no rank of the run."
        assert any(told in line for line in lines)
