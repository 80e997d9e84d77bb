"""`lockstep run` beside torchrun itself: what a script finds, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lockstep.cli import main

pytestmark = pytest.mark.reads("tests/scripts/as_written/")

FINDS = """
import atexit, json, os, sys
import torch.distributed as dist
import beside

PARTS = ("TORCH", "ROLE", "OMP", "RANK", "WORLD_SIZE")
found = {
    "variables": {k: v for k, v in os.environ.items() if any(part in k for part in PARTS)},
    "master": sorted(k for k in os.environ if k.startswith("MASTER")),
    "argv": sys.argv[1:],
    "names": [__name__, __package__, __spec__ is None, __file__ == os.path.abspath(sys.argv[0])],
    "annotations": __annotations__ if "__annotations__" in globals() else None,
    "main": sys.modules["__main__"].__dict__ is globals(),
    "first": [sys.path[0] == os.path.dirname(__file__), beside.HERE],
    "cwd": os.getcwd(),
    "group": dist.is_initialized(),
    "launched": dist.is_torchelastic_launched(),
}
dist.init_process_group("gloo")
found["backend"] = [dist.get_backend(), dist.get_rank(), dist.get_world_size()]
dist.destroy_process_group()
atexit.register(lambda: json.dump(found, open(f"found-{os.environ['RANK']}.json", "w")))
sys.exit()
"""
# torchrun draws an id, keeps the store of its agent at MASTER_PORT, and writes reports of its own.
DIFFER = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_ERROR_FILE")
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OMP_NUM_THREADS", "TORCH_NCCL_ASYNC_ERROR_HANDLING"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def found(folder: Path) -> list[dict]:
    told = [json.loads((folder / f"found-{rank}.json").read_text()) for rank in range(2)]
    for rank in range(2):
        for name in DIFFER:
            told[rank]["variables"].pop(name, None)
        (folder / f"found-{rank}.json").unlink()
    return told


@pytest.mark.slow
@pytest.mark.xdist_group("launchers")
def test_a_script_finds_what_torchrun_gives_it(folder: Path) -> None:
    (folder / "scripts").mkdir()
    (folder / "scripts" / "finds.py").write_text(FINDS)
    (folder / "scripts" / "beside.py").write_text("HERE = __name__")
    subprocess.run([*TORCHRUN, "scripts/finds.py", "--lr", "0.1", "--ranks", "7"], check=True, timeout=120)
    wanted = found(folder)
    assert [told["variables"]["RANK"] for told in wanted] == ["0", "1"]
    for on in ("dgx-a100", "processes"):
        assert main(["run", "--ranks", "2", "--on", on, "scripts/finds.py", "--lr", "0.1", "--ranks", "7"]) == 0
        ours = found(folder)
        differ = {k: (ours[r][k], wanted[r][k]) for r in range(2) for k in wanted[r] if ours[r][k] != wanted[r][k]}
        assert not differ, on


ENDS = {
    "import sys; sys.exit(0)": 0,
    "import sys; sys.exit()": 0,
    "import sys; sys.exit(3)": 1,
    "import sys; sys.exit('I give up')": 1,
    "raise ValueError('bad')": 1,
    "import os; os._exit(4)": 1,
}


@pytest.mark.slow
@pytest.mark.xdist_group("launchers")
@pytest.mark.parametrize("text", ENDS)
def test_torchrun_ends_so(folder: Path, text: str) -> None:
    (folder / "ends.py").write_text(text)
    done = subprocess.run([*TORCHRUN, "ends.py"], capture_output=True, text=True, timeout=120)
    assert done.returncode == ENDS[text], done.stderr


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize("text", ENDS)
def test_and_so_do_we(folder: Path, text: str, on: str) -> None:
    (folder / "ends.py").write_text(text)
    assert main(["run", "--ranks", "2", "--on", on, "ends.py"]) == ENDS[text]


def test_a_module_is_run_as_python_runs_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine" / "part").mkdir(parents=True)
    (folder / "mine" / "train.py").write_text(
        "import sys; from . import other\n"
        "print(__package__, other.X, sys.argv[0] == __file__, sys.argv[1:], __spec__.name)"
    )
    (folder / "mine" / "other.py").write_text("X = 7")
    (folder / "mine" / "part" / "__main__.py").write_text("print('part of', __package__)")
    assert main(["run", "--ranks", "2", "--on", "dgx-a100", "-m", "mine.train", "-m", "x"]) == 0
    said = capsys.readouterr().out
    assert said.count("mine 7 True ['-m', 'x'] mine.train") == 2
    assert main(["run", "--ranks", "1", "--on", "processes", "-m", "mine.part"]) == 0
    assert "[default0]:part of mine.part" in capsys.readouterr().out
    assert main(["run", "--ranks", "1", "--on", "dgx-a100", "-m", "mine.nothing"]) == 1
    assert "ModuleNotFoundError: No module named mine.nothing" in capsys.readouterr().err


def test_there_is_no_group_before_the_script_makes_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Functions find one. A script that forgot init_process_group passed here, and would have failed under torchrun."""
    (folder / "forgets.py").write_text("import torch.distributed as dist\nprint(dist.get_rank())")
    for on in ("dgx-a100", "processes"):
        assert main(["run", "--ranks", "2", "--on", on, "forgets.py"]) == 1
        assert "Default process group has not been initialized" in capsys.readouterr().err


def test_the_environment_of_the_caller_stays(folder: Path) -> None:
    before = dict(os.environ)
    (folder / "sets.py").write_text("import os; os.environ['MINE'] = '1'")
    assert main(["run", "--ranks", "2", "--on", "dgx-a100", "sets.py"]) == 0
    assert dict(os.environ) == before
