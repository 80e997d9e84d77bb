"""What a server loads before it is ready, what it leaves until a run needs it, and who tells it so."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep.collectives import ring_all_reduce
from lockstep.forking import forkserver
from lockstep.forking.fork_request import LOAD, READY, Request
from lockstep.forking.forkserver import Server
from lockstep.forking.preloaded import LONGEST, RARE, UNASKED, is_plain
from lockstep.launch.job import Job
from lockstep.scripts.script import Script

CELLS = """
def adds():
    x = torch.ones(2)
    dist.all_reduce(x)
    return x.sum().item()

def shards():
    from torch.distributed.fsdp import fully_shard
    return fully_shard

def trains():
    torch.optim.SGD([torch.ones(1)], lr=0.1).step()

def calls():
    return ring_all_reduce(torch.ones(2))
"""


def printed(program: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=environment)
    return done.stdout.strip()


@pytest.mark.slow
def test_a_run_that_needs_neither_dtensor_nor_a_pipeline_loads_neither() -> None:
    """The first run of a session waited for them, half as long again as for torch, and so did `lockstep check`."""
    found = printed("""
        import importlib, sys
        from lockstep.forking.preloaded import RARE, preload
        from lockstep.virtual.cluster_process import IN_THE_CHILD
        preload()
        print("lockstep.virtual.backend" in sys.modules)
        for module in IN_THE_CHILD:
            importlib.import_module(module)
        print([m for m in (*RARE, "sympy", "torch._dynamo") if m in sys.modules])
        """)
    assert found.split("\n") == ["False", "[]"]


def test_a_plain_function_is_told_from_one_that_may_need_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """An optimizer imports torch._dynamo in its first step: in each rank of each run, if the server has not."""
    monkeypatch.delitem(sys.modules, RARE[0], raising=False)

    cells: dict[str, Any] = {"__name__": "__main__", "torch": torch, "dist": dist, "ring_all_reduce": ring_all_reduce}
    exec(textwrap.dedent(CELLS), cells)  # as in a notebook, where a function travels by value
    assert Job.pack(cells["adds"], (), {}, ranks=1).modules() == ()
    for other in (cells["shards"], cells["trains"], cells["calls"], ring_all_reduce, Script("train.py")):
        assert Job.pack(other, (), {}, ranks=1).modules() == RARE, other
    assert Job.pack(cells["adds"], (torch.ones(LONGEST),), {}, ranks=1).modules() == RARE, (
        "too long to be looked through"
    )


def test_a_function_without_a_group_may_call_what_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`lockstep check cpu.blocked_matmul` took a CPU second for FSDP and pipelines."""
    monkeypatch.delitem(sys.modules, RARE[0], raising=False)
    assert Job.pack(textwrap.dedent, (), {}, ranks=1).modules() == RARE
    assert Job.pack(textwrap.dedent, (), {}, ranks=1, alone=True).modules() == ()
    assert Job.pack(torch.optim.SGD, (), {}, ranks=1, alone=True).modules() == RARE


@pytest.mark.slow
def test_the_command_loads_what_its_exercise_needs_and_no_more() -> None:
    """And once: the ranks are forked from a process that has it."""
    found = printed("""
        import importlib, sys
        from lockstep.cli import main
        from lockstep.forking import starter
        inherited = []
        inherit = starter.inherit
        def note():
            inherited.extend(m for m in ("sklearn", "torch._dynamo") if m in sys.modules)
            inherit()
        starter.inherit = note
        code = main(["check", "--reference", "scikit_learn.parallel_grid_search"])
        print(code, inherited, [m for m in ("torch._dynamo", "torch.distributed.fsdp") if m in sys.modules])
        """)
    assert found.splitlines()[-1] == "0 ['sklearn'] []"


def test_a_caller_that_has_them_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, RARE[0], sys)
    assert not is_plain(Job.pack(int, (), {}, ranks=1).blob)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, socket.socket, list[str]]]:
    loaded: list[str] = []
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = Server(theirs, os.getpid())
    monkeypatch.setattr(server, "_load", loaded.append)
    yield server, ours, loaded
    for end in (ours, theirs, server._woken, server._wake):
        end.close()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform != "linux", reason="the fork server is Linux's")
def test_while_nobody_asks_the_server_loads_the_rest(server) -> None:
    one, _, loaded = server
    assert one._patience() == forkserver.UNHURRIED
    for _ in UNASKED:
        one._tend()
    assert loaded == [*UNASKED]
    assert one._patience() is None, "no run has come, and no spare is wanted"


@pytest.mark.skipif(sys.platform != "linux", reason="the fork server is Linux's")
def test_once_a_run_has_come_nothing_is_loaded_that_it_would_have_to_wait_for(server) -> None:
    one, ours, loaded = server
    one._control.send(READY)
    one._tend()
    ours.send(Request("numpy", LOAD, 0).packed())
    one._serve()
    assert one._patience() is None
    one._tend()
    assert loaded == [UNASKED[0], "numpy"]


@pytest.mark.skipif(sys.platform != "linux", reason="the fork server is Linux's")
def test_who_makes_one_run_of_each_kind_loads_nothing_unasked() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one = Server(theirs, os.getpid(), spares=False)
    assert one._patience() is None
    for end in (ours, theirs, one._woken, one._wake):
        end.close()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
