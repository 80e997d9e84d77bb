"""The command line as a person types it: exit codes, one sentence for what goes wrong, JSON and nothing else."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lockstep import progress as kept
from lockstep.cli import address, lab, main
from lockstep.cli.terminal import Painter
from lockstep.grading.course import UNITS

pytestmark = pytest.mark.reads("docs/", "nbgrader_config.py")

ROOT = Path(__file__).parents[1]
RING = "communication.ring_all_reduce"
Lockstep = Callable[..., subprocess.CompletedProcess[str]]

# Answers by the published signature, ring_all_reduce(tensor, group=None), in a hand that is not the course's.
RIGHT = """
import torch
import torch.distributed as dist

print("hello from my file")

def ring_all_reduce(buffer, group=None):
    print("hello from my function")
    me, count = dist.get_rank(group), dist.get_world_size(group)
    if count == 1:
        return buffer
    to = dist.get_global_rank(group or dist.group.WORLD, (me + 1) % count)
    fro = dist.get_global_rank(group or dist.group.WORLD, (me - 1) % count)
    line = buffer.flatten().clone()
    step = -(-line.numel() // count)
    piece = lambda index: line[step * (index % count) : step * (index % count + 1)]
    for turn in range(2 * count - 2):
        summing = turn < count - 1
        giving = piece(me - turn) if summing else piece(me + 1 - (turn - count + 1))
        taking = piece(me - turn - 1) if summing else piece(me - (turn - count + 1))
        landing = torch.empty_like(taking)
        jobs = [dist.isend(giving.clone(), to, group=group)] if giving.numel() else []
        jobs += [dist.irecv(landing, fro, group=group)] if taking.numel() else []
        for job in jobs:
            job.wait()
        taking.copy_(taking + landing if summing else landing)
    return line.reshape(buffer.shape)

if __name__ == "__main__":
    while True:
        pass
"""
WHOLE_TENSOR = """
import torch
import torch.distributed as dist

def ring_all_reduce(tensor, group=None):
    k, n = dist.get_rank(group), dist.get_world_size(group)
    world = group or dist.group.WORLD
    right, left = (dist.get_global_rank(world, (k + d) % n) for d in (1, -1))
    total, passing = tensor.clone(), tensor.contiguous().clone()
    for _ in range(n - 1):
        arriving = torch.empty_like(passing)
        for work in [dist.isend(passing, right, group=group), dist.irecv(arriving, left, group=group)]:
            work.wait()
        passing = arriving
        total += arriving
    return total
"""
UNCHANGED = """
def ring_all_reduce(tensor, group=None):
    return tensor
"""
HANGS = """
import torch
import torch.distributed as dist

def ring_all_reduce(tensor, group=None):
    dist.recv(torch.zeros(1), (dist.get_rank() + 1) % dist.get_world_size())
"""


@pytest.fixture
def lockstep(tmp_path: Path) -> Lockstep:
    """`lockstep ...` as a process of its own, with a home of its own."""

    def call(*arguments: object, prefix: tuple[str, ...] = (sys.executable,), **options: object):
        environment = os.environ | {"LOCKSTEP_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
        command = [*prefix, "-m", "lockstep", *map(str, arguments)]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
        )

    return call


def answer(folder: Path, text: str, name: str = "answer.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_help_comes_at_once() -> None:
    code = """
import sys
from lockstep.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert end.code == 0
assert not {"torch", "numpy", "IPython", "lockstep.worlds"} & set(sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout
    for command in ("lab", "doctor", "units", "progress", "check", "run", "horovod", "build", "bench"):
        assert f"    {command} " in told


class TestCheck:
    def test_0_a_right_answer_that_nobody_here_wrote(self, lockstep: Lockstep, tmp_path: Path) -> None:
        done = lockstep("check", RING, answer(tmp_path, RIGHT), "--json")
        report = json.loads(done.stdout)
        assert (done.returncode, report["verdict"]) == (0, "passed"), report
        assert set(report) == {"points", "maximum", "verdict", "findings"}
        assert report["points"] == report["maximum"] > 0
        assert report["findings"] == []
        assert done.stderr == ""
        assert f"{report['points']:g} of {report['maximum']:g}" in lockstep("progress").stdout

    def test_0_an_answer_in_a_notebook(self, lockstep: Lockstep, tmp_path: Path) -> None:
        cells = [
            "%matplotlib inline\nraise SystemExit",
            "import torch",
            *RIGHT.split('print("hello from my file")'),
            "1/0",
        ]
        nbformat.write(new_notebook(cells=[new_code_cell(c) for c in cells]), tmp_path / "lab.ipynb")
        done = lockstep("check", RING, tmp_path / "lab.ipynb")
        assert done.returncode == 0, done.stdout
        assert f"{RING}: Right." in done.stdout

    @pytest.mark.slow
    def test_1_right_values_at_the_wrong_cost(self, lockstep: Lockstep, tmp_path: Path) -> None:
        done = lockstep("check", RING, answer(tmp_path, WHOLE_TENSOR), "--json")
        report = json.loads(done.stdout)
        assert (done.returncode, report["verdict"]) == (1, "wrong"), report
        assert 0 < report["points"] < report["maximum"], report
        assert "whole-tensor" in [f["misconception"] for f in report["findings"]]

    def test_1_a_deadlock_names_the_learners_line(self, lockstep: Lockstep, tmp_path: Path) -> None:
        done = lockstep("check", RING, answer(tmp_path, HANGS))
        assert done.returncode == 1
        assert "It does not run to the end" in done.stdout
        assert "answer.py, line 6, in ring_all_reduce" in done.stdout

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("def ring_allreduce(tensor, group=None): ...", "Did you mean ring_allreduce?"),
            ("def ring_all_reduce(): ...", "takes (tensor, group=None); yours takes ()."),
            ("def ring_all_reduce(tensor, group=None) return", "line 1"),
            (
                "import no_such_package_of_mine\ndef ring_all_reduce(t, group=None): no_such_package_of_mine",
                "no_such_pack",
            ),
        ],
    )
    def test_1_a_function_that_cannot_be_called(
        self, tmp_path: Path, text: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
        assert main(["check", RING, str(answer(tmp_path, text))]) == 1
        seen = capsys.readouterr()
        assert told in " ".join(seen.out.split())
        assert seen.err == ""

    @pytest.mark.parametrize(
        ("name", "content"),
        [("missing.py", None), ("lab.ipynb", b"{ not json"), ("lab.ipynb", b"[]"), ("picture.py", b"\xff\xfe\x00\x01")],
    )
    def test_3_a_file_that_cannot_be_read(
        self, tmp_path: Path, name: str, content: bytes | None, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
        if content is not None:
            (tmp_path / name).write_bytes(content)
        assert main(["check", RING, str(tmp_path / name), "--json"]) == 3
        report = json.loads(capsys.readouterr().out)
        assert report["verdict"] == "ungraded"
        assert name in report["findings"][0]["message"]

    def test_exit_codes_are_the_processs(self, lockstep: Lockstep, tmp_path: Path) -> None:
        assert lockstep("check", "communication.ring_alreduce", tmp_path / "x.py").returncode == 2
        assert lockstep("check", RING, tmp_path / "missing.py").returncode == 3


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "COMMAND"),
        ("chekc", "invalid choice: 'chekc'"),
        ("units 04 --port 3", "does not know --port 3"),
        ("check", "needs an exercise and your file"),
        (f"check {RING}", "needs an exercise and your file"),
        (f"check {RING} x.py --all", "takes no exercise"),
        (f"check {RING} x.py --apart --on processes", "--apart tries your own answer"),
        (f"check {RING} --reference --apart", "--apart tries your own answer"),
        ("check communication.ring_alreduce x.py", f"Did you mean {RING}"),
        ("check nonsense x.py", "There is no exercise 'nonsense'"),
        (f"check {RING} {{file}} --on dgx-a10", "dgx-a100"),
        ("run {file}", "How many ranks?"),
        ("run {file} --ranks 2", "options stand before a script"),
        ("run {file}:", "names no function"),
        ("run :f --ranks 2", "names no function"),
        ("run {file}:1f --ranks 2", "names no function"),
        ("run missing.py:f --ranks 2", "There is no file missing.py"),
        ("run {file}:rign --ranks 2", "Did you mean ring?"),
        ("run {file}:needs --ranks 2", "needs arguments"),
        ("run {file}:ring", "--ranks 4"),
        ("run {file}:ring --ranks many", "many is not a whole number"),
        ("run {file}:ring --ranks 0", "not 0"),
        ("run {file}:ring --ranks -3", "not -3"),
        ("run {file}:ring --ranks 5000", "5,000 ranks are more than makes sense"),
        ("run {file}:ring --ranks 5000 --on dgx-a100", "5,000 ranks are more than makes sense"),
        ("run {file}:ring --ranks 2 --port 3", "does not know --port 3"),
        ("run {file}:ring --ranks 2 --on dgx-a10", "Did you mean 'dgx-a100'"),
        ("run {file}:ring --ranks 2 --on spmd", "launcher"),
        ("run {file}:ring --ranks 2 --trace no/such/folder/t.json", "cannot be written to no/such/folder/t.json"),
    ],
)
def test_2_misuse_gets_one_sentence(
    command: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    file = answer(tmp_path, "def ring(): ...\ndef needs(x): ...\ndef ring_all_reduce(t, group=None): ...")
    try:
        code = main(command.format(file=file).split())
    except SystemExit as end:  # argparse
        code = end.code
    seen = capsys.readouterr()
    assert code == 2
    assert told in seen.err
    assert len(seen.err.splitlines()) <= 2
    assert seen.out == ""


class TestRun:
    PROGRAM = """
    import time
    import torch
    import torch.distributed as dist

    def ring(size=3):
        print("I am", dist.get_rank())
        total = torch.ones(size) * dist.get_rank()
        dist.all_reduce(total)
        return total

    def deadlock():
        dist.recv(torch.zeros(1), (dist.get_rank() + 1) % dist.get_world_size())

    def sleep():
        open(f"{__file__}.{dist.get_rank()}", "w").close()
        time.sleep(100)
    """

    @pytest.mark.parametrize("world", ["processes", "dgx-a100"])
    def test_values_prints_and_a_trace(self, lockstep: Lockstep, tmp_path: Path, world: str) -> None:
        file = answer(tmp_path, self.PROGRAM)
        done = lockstep("run", f"{file}:ring", "--ranks", 3, "--on", world, "--trace", tmp_path / "trace.json")
        assert done.returncode == 0, done.stderr
        for rank in range(3):
            assert f"rank {rank}: tensor([3., 3., 3.])" in done.stdout
            assert done.stdout.count(f"I am {rank}") == 1, "as it was printed, and not again at the end"
        rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        assert {row["tid"] for row in rows if row.get("cat") == "all_reduce"} == {0, 1, 2}

    def test_1_what_fails_says_so(self, lockstep: Lockstep, tmp_path: Path) -> None:
        done = lockstep("run", f"{answer(tmp_path, self.PROGRAM)}:deadlock", "--ranks", 3, "--on", "dgx-a100")
        assert done.returncode == 1
        assert done.stderr.startswith("lockstep: Deadlock: rank 0 waits for rank 1")
        assert "answer.py, line 13, in deadlock" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.xdist_group("kills")
    def test_130_ctrl_c_ends_every_rank(self, tmp_path: Path) -> None:
        file = answer(tmp_path, self.PROGRAM)
        command = [sys.executable, "-m", "lockstep", "run", f"{file}:sleep", "--ranks", "2", "--on", "processes"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        wait_for(lambda: all(Path(f"{file}.{rank}").exists() for rank in range(2)))
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 2
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert told == "lockstep: stopped.\n"
        assert psutil.wait_procs(family, timeout=30)[1] == []


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.xdist_group("launchers")
class TestUnderTorchrun:
    TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone")

    def test_rank_0_speaks_json(self, lockstep: Lockstep, tmp_path: Path) -> None:
        done = lockstep("check", RING, answer(tmp_path, RIGHT), "--json", prefix=self.TORCHRUN)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["verdict"] == "passed"

    @pytest.mark.slow
    def test_every_rank_ends_with_the_same_code(self, lockstep: Lockstep, tmp_path: Path) -> None:
        """torchrun reports the exit code of a rank that failed, and itself ends with 1."""
        done = lockstep("check", RING, answer(tmp_path, UNCHANGED), "--json", prefix=self.TORCHRUN)
        assert done.returncode != 0
        assert json.loads(done.stdout)["verdict"] == "wrong"


@pytest.mark.slow
def test_141_when_nobody_reads(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "lockstep", "units", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_units_as_json(lockstep: Lockstep) -> None:
    done = lockstep("units", "--json")
    units = {unit["id"]: unit for unit in json.loads(done.stdout)["units"]}
    assert list(units)[4] == "communication"
    assert len(units) == 14
    assert RING in [e["id"] for e in units["communication"]["exercises"]]
    assert RING in lockstep("units", "04").stdout
    assert len(lockstep("units").stdout.splitlines()) <= 24, "a screenful"
    assert [u["id"] for u in json.loads(lockstep("units", "04", "--json").stdout)["units"]] == ["communication"]


def test_doctor_as_json(lockstep: Lockstep) -> None:
    done = lockstep("doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert {"Python", "torch", "cores", "loopback", "shared memory"} <= {f["name"] for f in findings}
    assert all(f["advice"] for f in findings if not f["ok"])
    assert done.returncode == int(any(not f["ok"] and not f["optional"] for f in findings))


@pytest.mark.slow
def test_progress_of_a_newcomer(lockstep: Lockstep) -> None:
    assert lockstep("progress").stdout == "Nothing yet. `lockstep lab` opens the course.\n"


def test_lab_opens_the_front_page_and_keeps_jupyters_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "JUPYTERHUB_SERVICE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SHELL", "/bin/sh")
    options = lab.options(tmp_path)
    assert f"--ServerApp.root_dir={tmp_path}" in options
    assert "--LabApp.default_url=/lab/tree/course/index.ipynb" in options
    assert "--ServerApp.terminado_settings=shell_command=/bin/sh" in options, "no login shell: it sets another PATH"
    assert lab.surroundings(tmp_path)["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    assert not [option for option in options if "token" in option or "password" in option]
    assert ("--allow-root" in options) == (os.getuid() == 0)
    assert ("--no-browser" in options) == sys.platform.startswith("linux")
    monkeypatch.setenv("DISPLAY", ":0")
    assert "--no-browser" not in lab.options(tmp_path)


def started(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[list[str], str]:
    """The command that `lockstep lab` turns into, and where it looks for settings."""
    calls: list[tuple[list[str], str]] = []
    monkeypatch.setattr(os, "execve", lambda _, command, env: calls.append((command, env["JUPYTER_CONFIG_PATH"])))
    main(["lab", *arguments])
    return calls[0]


def test_lab_takes_a_folder_first_and_hands_the_rest_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    command, settings = started(monkeypatch, str(folder), "--port", "9000")
    assert command[-2:] == ["--port", "9000"]
    assert f"--ServerApp.root_dir={folder}" in command
    assert str(folder) not in command
    assert settings.split(os.pathsep)[0] == str(folder), "JupyterLab's list of assignments reads nbgrader's settings"
    told = [f"Your copy of the course is in {folder}.", "JupyterLab starts: some ten seconds …"]
    assert capsys.readouterr().out.splitlines() == told
    assert (folder / "course" / "index.ipynb").is_file()
    monkeypatch.chdir(folder / "labs")
    again, _ = started(monkeypatch, "--port", "9000")
    assert again == command, "9000 is no folder, and inside a working folder it is that one"


def under_a_hub(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:40001/user/alice/")
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: name == "jupyterhub")
    monkeypatch.setattr(os, "getuid", lambda: uid)
    monkeypatch.setattr(os, "geteuid", lambda: uid)


def test_a_hub_that_starts_lab_as_root_gets_no_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hub gave a server to whoever signed in as root, and `lockstep lab` added --allow-root by itself."""
    under_a_hub(monkeypatch, uid=0)
    assert main(["lab", str(tmp_path / "mine")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        "lockstep: A JupyterHub has started this as root, and whoever uses the page would be root.\n"
    )
    assert not (tmp_path / "mine").exists()


def test_root_is_allowed_where_root_has_typed_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not where a user's program became root by itself."""
    monkeypatch.delenv("JUPYTERHUB_SERVICE_URL", raising=False)
    for real, effective, allowed in ((0, 0, True), (1000, 0, False), (1000, 1000, False)):
        monkeypatch.setattr(os, "getuid", lambda real=real: real)
        monkeypatch.setattr(os, "geteuid", lambda effective=effective: effective)
        assert ("--allow-root" in lab.options(tmp_path)) == allowed


def test_under_a_hub_lab_becomes_the_hubs_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hub's server takes address and name from the environment; folder and front page come from here."""
    under_a_hub(monkeypatch, uid=1000)
    command, settings = started(monkeypatch, str(tmp_path / "mine"), "--debug")
    assert command[1:3] == ["-m", "jupyterhub.singleuser"]
    assert f"--ServerApp.root_dir={tmp_path / 'mine'}" in command
    assert "--ServerApp.default_url=/lab/tree/course/index.ipynb" in command
    assert "--no-browser" not in command, "the hub's server opens none"
    assert "--allow-root" not in command
    assert command[-1] == "--debug"
    assert settings.split(os.pathsep)[0] == str(tmp_path / "mine")


def test_under_a_hub_lab_says_when_the_hubs_server_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    under_a_hub(monkeypatch, uid=1000)
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    assert main(["lab", str(tmp_path / "mine")]) == 2
    assert capsys.readouterr().err == (
        "lockstep: A JupyterHub has started this, and jupyterhub is not installed beside Lockstep.\n"
        "Install it there: pip install 'lockstep-lab[hub]'\n"
    )
    assert not (tmp_path / "mine").exists()


def test_lab_refuses_a_folder_in_one_sentence(lockstep: Lockstep, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    done = lockstep("lab", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"lockstep: {tmp_path} holds other files already (thesis.tex).\n"
        "`lockstep lab DIR` takes any empty folder, and makes one that is not there yet.\n"
    )


class Server:
    """The part of Jupyter's server that the address comes from; its loop runs what it is given when it is told to."""

    def __init__(self, ip: str = "localhost", made: bool = True) -> None:
        self.ip, self.identity_provider, self.io_loop = ip, SimpleNamespace(token_generated=made), self
        self.local_url, self.public_url = "http://127.0.0.1:1/lab?token=1", "http://10.0.0.1:1/lab?token=1"
        self.later: list[Callable[[], None]] = []

    def add_callback(self, call: Callable[[], None]) -> None:
        self.later.append(call)


@pytest.mark.parametrize(
    ("ip", "shown"), [("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "10.0.0.1")]
)
def test_the_address_stands_last_and_by_itself(ip: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It was one of thirty lines, and warnings came after it."""
    server = Server(ip)
    address._load_jupyter_server_extension(server)
    assert server.identity_provider.token_generated is False, "Jupyter prints no address of its own"
    assert capsys.readouterr().out == ""
    server.later[0]()
    assert server.identity_provider.token_generated is True
    *_, line, frame = capsys.readouterr().out.splitlines()
    assert line == f"http://{shown}:1/lab?token=1"
    assert set(frame) == {"─"}


def test_a_hub_tells_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:8888")
    server = Server()
    address._load_jupyter_server_extension(server)
    assert server.later == []
    assert server.identity_provider.token_generated is True


def test_progress_is_plain_where_it_is_piped_and_names_what_comes_next(
    lockstep: Lockstep, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    kept.lock_prediction("communication.ring-bytes", 100, "MB")
    kept.record_outcome("communication.ring-bytes", kept.Outcome(simulated=196.9))
    kept.record_score("communication.tree_broadcast", 3, 3, "passed")
    said = lockstep("progress").stdout
    assert "\033" not in said
    assert max(map(len, said.splitlines())) <= 120
    overview = [line for line in said.splitlines() if line[:2].isdigit() and "of" in line]
    assert [line[:2] for line in overview] == [f"{unit.number:02d}" for unit in UNITS]
    assert "ring-bytes             you 100 MB, simulated 196.9 MB  off by 1.97 ×" in said
    assert "Within a factor of 2 in 1 of 1 predictions." in said
    assert "Go on with the lab of unit 04" in said
    assert "04  Communication" not in lockstep("progress", "05").stdout


def test_bars_and_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    painter = Painter(Terminal(io.BytesIO(), encoding="utf-8"))
    assert painter.paint("near", "green") == "\033[32mnear\033[0m"
    piped = Painter(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert [piped.bar(done, 20, 8) for done in (0, 1, 10, 19.9, 20)] == [
        "........",
        "#.......",
        "####....",
        "#######.",
        "########",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    assert Painter(Terminal(io.BytesIO(), encoding="utf-8")).paint("near", "green") == "near"
