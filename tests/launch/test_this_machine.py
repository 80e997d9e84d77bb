"""A machine that is full, an output that is closed, two notebooks at once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1] / "pkg")])}


def notebook(body: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A process that calls run(); ``on`` and the programs are there."""
    script = "import os, sys\nimport odd_programs as odd\nfrom lockstep import run\nfrom lockstep.errors import *\n"
    return subprocess.Popen(
        [*arguments, sys.executable, "-c", script + textwrap.dedent(body)],
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=200)
    assert (process.returncode, err) == (0, ""), f"{out}\n{err}"
    return out


# ---- no room: small file systems in a mount namespace of our own, so that nothing outside is filled

MOUNTED = """
mkdir -p "$TMPDIR" && mount -t tmpfs -o size={size}k full "$TMPDIR" && mount -t tmpfs -o size=64k full /dev/shm &&
{fill} exec "$@"
"""


def with_little_room(body: str, directory: Path, size: int, *fill: str) -> str:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small file system")
    filled = "".join(f'head -c 1000000 /dev/zero > "{path}/full" 2>/dev/null;' for path in fill)
    shell = ["unshare", "-m", "sh", "-c", MOUNTED.format(size=size, fill=filled), "sh"]
    return said(notebook(body, *shell, TMPDIR=str(directory / "tmp")))


@pytest.mark.slow
def test_a_full_dev_shm_does_not_matter(tmp_path: Path) -> None:
    body = 'print(*(run(odd.good, ranks=2, on=on).values for on in ("processes", "dgx-a100")))'
    assert with_little_room(body, tmp_path, 1000, "/dev/shm") == "[2.0, 2.0] [2.0, 2.0]\n"


NO_ROOM = """
    try:
        run(odd.many_messages, 2000, ranks=2)
    except WorldUnavailable as error:
        print(error.message)
    os.system('rm -f "$TMPDIR/full"')
    print(run(odd.good, ranks=2).values, [f for f in os.listdir(os.environ["TMPDIR"]) if "lockstep" in f])
"""


@pytest.mark.slow
def test_no_room_at_all_is_one_sentence(tmp_path: Path) -> None:
    told = with_little_room(NO_ROOM, tmp_path, 1000, "/dev/shm", "$TMPDIR").splitlines()
    assert told[0].startswith("There is no room for the files of a run (")
    assert told[1:] == ["[2.0, 2.0] []"]


@pytest.mark.slow
def test_room_that_runs_out_is_not_blamed_on_the_function(tmp_path: Path) -> None:
    """An all_reduce seemed to raise OSError: No space left on device."""
    told = with_little_room(NO_ROOM, tmp_path, 300).splitlines()
    assert "could not go on: there is no room for its journal in" in told[0]
    assert told[0].endswith("(No space left on device).")
    assert told[1:] == ["[2.0, 2.0] []"]


# ---- the notebook's own output


@pytest.mark.slow
@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_a_closed_stdout(on: str) -> None:
    body = f"""
        def close_descriptor():
            os.close(1)
        def close_file():
            sys.stdout.close()
        def have_none():
            sys.stdout = None
        for change in (close_descriptor, close_file, have_none):
            change()
            result = run(odd.prints_to_stderr, ranks=2, on="{on}")
            os.write(2, repr((result.values, result.printed.count("told"))).encode())
        os._exit(0)
    """
    process = notebook(body)
    _, err = process.communicate(timeout=200)
    assert err == "([2.0, 2.0], 2)" * 3


@pytest.mark.slow
def test_two_notebooks_at_once() -> None:
    body = """
        for _ in range(5):
            for on in ("processes", "dgx-a100"):
                assert run(odd.good, ranks=3, on=on).values == [3.0] * 3
        print("right")
    """
    assert [said(n) for n in [notebook(body), notebook(body)]] == ["right\n"] * 2
