"""A real kernel: ranks have their server before the first run asks for it, and what goes wrong is told shortly."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import psutil
import pytest
from kernels import started

from lockstep import notebook
from lockstep.forking import starter

PKG = Path(notebook.__file__).resolve().parents[1]
SERVER = "from lockstep.launch import server; print(server._starter._server.pid, server._starter._server.ready)"
ENDLESS = """
from pathlib import Path

def endless(p=0, s=0):
    Path({begun!r}).touch()
    while True:
        pass
"""


class Kernel:
    """A kernel in ``folder``, and what it says of a cell: the text that it prints, or its error."""

    def __init__(self, folder: Path) -> None:
        self.manager, self.client = started(folder)

    def run(self, code: str, interrupted_at: Path | None = None) -> dict[str, Any]:
        said: dict[str, Any] = {"printed": "", "error": "", "traceback": ""}
        asked = self.client.execute(code)
        if interrupted_at:
            while not interrupted_at.exists():
                time.sleep(0.02)
            self.manager.interrupt_kernel()
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != asked:
                continue
            if kind == "stream":
                said["printed"] += content["text"]
            elif kind == "error":
                said |= {"error": content["ename"], "traceback": "\n".join(content["traceback"])}
            elif kind == "status" and content["execution_state"] == "idle":
                return said

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernel")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[Kernel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(PKG), os.environ.get("PYTHONPATH")])))
        patch.setenv("LOCKSTEP_HOME", str(folder))
        made = Kernel(folder)
    yield made
    made.close()


def test_a_kernel_of_the_tests_has_no_port_that_another_may_take(kernel: Kernel) -> None:
    """Ports are chosen first and bound later: "Address already in use", where other kernels were started meanwhile."""
    told = kernel.manager.get_connection_info()
    assert all(Path(f"{told['ip']}-{told[port]}").is_socket() for port in told if port.endswith("_port"))


def test_the_server_is_there_before_the_first_run_and_ends_with_the_kernel(kernel: Kernel) -> None:
    """The first run of a lesson took three seconds, in which nothing was seen but [*]."""
    assert kernel.run("from lockstep import run") == {"printed": "", "error": "", "traceback": ""}
    begun = int(kernel.run(SERVER)["printed"].split()[0])
    assert psutil.pid_exists(begun)
    kernel.run("run(int, ranks=2)")
    assert kernel.run(SERVER)["printed"].split() == [str(begun), "True"], "the first run has used it"
    process = psutil.Process(begun)
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready()
    process.wait(20)


@pytest.mark.parametrize("call", ["run(endless, ranks=2)", 'run(endless, ranks=2, on="virtual")'])
def test_an_interrupted_run_shows_the_learners_lines_alone(kernel: Kernel, folder: Path, call: str) -> None:
    """Some forty lines of the library's own stood below the cell."""
    shown = interrupted(kernel, folder / "run", "from lockstep import run", call)
    assert [line.strip() for line in shown if line.strip()][1:] == [call, "KeyboardInterrupt"]
    assert "Cell In[" in shown[0]


def test_an_interrupted_check_shows_the_learners_lines_alone(kernel: Kernel, folder: Path) -> None:
    call = 'check("why_parallel.amdahl", endless)'
    shown = interrupted(kernel, folder / "check", "from lockstep import check", call)
    assert [line.strip() for line in shown if line.strip()][1:] == [call, "KeyboardInterrupt"]


def interrupted(kernel: Kernel, begun: Path, prepared: str, call: str) -> list[str]:
    begun.unlink(missing_ok=True)
    kernel.run(prepared + ENDLESS.format(begun=str(begun)))
    said = kernel.run(call, interrupted_at=begun)
    assert said["error"] == "KeyboardInterrupt"
    assert "lockstep" not in said["traceback"]
    return str(said["traceback"]).splitlines()


def test_a_check_of_what_is_not_defined_says_what_to_do(kernel: Kernel) -> None:
    """After a restart it said NameError, and no more."""
    said = kernel.run('from lockstep import check\n\ncheck("communication.ring_all_reduce", ring_all_reduce)')
    assert said["error"] == "NameError"
    assert said["printed"] == notebook.UNDEFINED.format(name="ring_all_reduce") + "\n"
    assert kernel.run("x = ring_all_reduce") | {"traceback": ""} == {
        "printed": "", "error": "NameError", "traceback": "",
    }  # fmt: skip


def test_only_a_kernel_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a terminal's IPython, nor a rank of a launcher."""
    begun: list[str] = []
    monkeypatch.setattr(starter, "begin", lambda: begun.append("server"))
    monkeypatch.setenv("LOCKSTEP_START", "fork")
    ipython, events = ModuleType("IPython"), SimpleNamespace(callbacks={"post_run_cell": []}, register=lambda *_: None)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    for shell in (None, SimpleNamespace(events=events)):
        monkeypatch.setattr(ipython, "get_ipython", lambda shell=shell: shell, raising=False)
        notebook.begin()
    monkeypatch.setattr(ipython, "get_ipython", lambda: SimpleNamespace(events=events, kernel=1))
    with monkeypatch.context() as launched:
        for size in ("2", "two"):
            for name, value in {"RANK": "0", "WORLD_SIZE": size, "LOCAL_RANK": "0", "MASTER_ADDR": "node"}.items():
                launched.setenv(name, value)
            notebook.begin()
    assert begun == []
    notebook.begin()
    assert begun == ["server"]


@pytest.mark.slow
def test_a_script_starts_nothing_ahead() -> None:
    code = "from lockstep import run\nfrom lockstep.launch import server\nassert server._starter._server is None"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PKG), *filter(None, sys.path)])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
