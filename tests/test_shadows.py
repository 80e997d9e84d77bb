"""A file beside the notebook with the name of another module is named, and not what follows from it."""

import subprocess
import sys
from pathlib import Path

import pytest

PKG = str(Path(__file__).parents[1] / "pkg")
PROGRAM = "from lockstep import run\nprint(run)\n"
IN_A_RANK = """
def f():
    import wave
    return wave.open

if __name__ == "__main__":
    from lockstep import run
    for on in ("processes", "virtual"):
        try:
            run(f, ranks=1, on=on)
        except Exception as error:
            print(type(error).__name__, error.remedy)
"""


def python(folder: Path, *command: str) -> tuple[int, str, str]:
    environment = {
        "PYTHONPATH": PKG,
        "HOME": str(folder),
        "LOCKSTEP_HOME": str(folder / "home"),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=200
    )
    return done.returncode, done.stdout, done.stderr


def advice(file: Path) -> str:
    return (
        f"{file} has the name of another module, {file.stem}, and Python imports it in its place.\n"
        "Unless that is meant, give your file another name.\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random", "torch", "numpy", "signal"])
def test_it_is_named_where_lockstep_is_imported(name: str, tmp_path: Path) -> None:
    """It was "cannot import name 'run' from 'lockstep'", or an error from deep in torch."""
    (tmp_path / f"{name}.py").write_text("x = 1\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    code, _, told = python(tmp_path, "program.py")
    assert code == 1
    assert told.endswith(f"ImportError: {advice(tmp_path / f'{name}.py')}")
    assert "direct cause" not in told
    code, _, told = python(tmp_path, "-m", "lockstep", "run", "program.py:run", "--ranks", "2")
    assert (code, told) == (2, f"lockstep: {advice(tmp_path / f'{name}.py')}")


@pytest.mark.slow
def test_a_file_that_is_imported_on_a_rank(tmp_path: Path) -> None:
    (tmp_path / "wave.py").write_text("x = 1\n")
    (tmp_path / "program.py").write_text(IN_A_RANK)
    _, out, _ = python(tmp_path, "program.py")
    assert out.replace("Surveying this machine, once: compute, memory and loopback. About 5 seconds.\n", "") == (
        f"RankRaised {advice(tmp_path / 'wave.py')}" * 2
    )


@pytest.mark.slow
def test_a_file_with_a_module_s_name_that_is_meant_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(PROGRAM + "None.x\n")
    _, _, told = python(tmp_path, "code.py")
    assert told.endswith("AttributeError: 'NoneType' object has no attribute 'x'\n")
