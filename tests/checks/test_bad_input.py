"""Whatever stands in a learner's file: one clear sentence and a verdict, and neither a hang nor a traceback of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep import checks
from lockstep.checks import Score

RING = "communication.ring_all_reduce"
DEF = "def ring_all_reduce(tensor, group=None):\n"
AMDAHL = "why_parallel.amdahl"

DATACLASS = """
from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import torch.distributed as dist


@dataclass
class Step:
    number: int
    ranks: list[int] = field(default_factory=list)


def ring_all_reduce(tensor, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    if group is None and size > 1:
        told = [Step(0)] if rank == 0 else [None]
        if rank == 0:
            for other in range(1, size):
                dist.send_object_list(told, dst=other)
        else:
            dist.recv_object_list(told, src=0)
        assert isinstance(told[0], Step) and told[0] == Step(0), told
    assert pickle.loads(pickle.dumps(Step(1, [2]))) == Step(1, [2])
    raise KeyError("that far")
"""


def judged(tmp_path: Path, text: str | bytes, name: str = "answer.py", on: str | None = None) -> Score:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    score = checks.check_file(RING, file, on=on)
    told = score.text()
    assert "Traceback" not in told
    assert "pkg/lockstep" not in told
    json.dumps(score.to_json())
    told.encode()
    return score


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_a_dataclass_works(tmp_path: Path, on: str) -> None:
    """It looks for its own module, which was none, and right answers were rejected; each rank has one of its own."""
    score = judged(tmp_path, DATACLASS, on=on)
    assert "KeyError: 'that far'" in score.findings[0].message, score.text()


def test_what_a_file_defines_travels_to_workers_of_joblib(tmp_path: Path) -> None:
    """The module of a file cannot be imported elsewhere: what lives in it goes along by value."""
    lines = (
        "from dataclasses import dataclass\nimport cloudpickle, pickle, subprocess, sys, base64\n\n\n"
        "@dataclass\nclass Law:\n    p: float\n\n\ndef speedup(law, s):\n    return 1 / (1 - law.p + law.p / s)\n\n\n"
        "def amdahl(p, s):\n    blob = base64.b64encode(cloudpickle.dumps((speedup, Law(p)))).decode()\n"
        "    code = 'import pickle,base64;f,l=pickle.loads(base64.b64decode(%r));print(repr(f(l,%r)))' % (blob, s)\n"
        "    return float(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)\n"
    )
    (tmp_path / "answer.py").write_text(lines)
    exercise = checks.find(AMDAHL)
    from lockstep.checks.load import load
    from lockstep.worlds import run

    fn = load(tmp_path / "answer.py", exercise.function)
    (value,) = run(fn, 0.5, 2, ranks=1, on="dgx-a100").values
    assert value == pytest.approx(4 / 3)


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("text", "misconception", "told"),
    [
        (
            "import torch\n\n\nclass M(torch.nn.Module):\n    def foward(self, x):\n        return x\n\n\n"
            f"{DEF}    return M()(tensor)\n",
            "crashed:RankRaised",
            'missing the required "forward"',
        ),
        (f"{DEF}    raise KeyError('NotImplementedError')\n", "crashed:RankRaised", "KeyError: 'NotImplementedError'"),
        (f"{DEF}    raise ValueError('LibraryAnswer')\n", "crashed:RankRaised", "ValueError: LibraryAnswer"),
        (f"{DEF}    raise ValueError('half \\ud800 a pair')\n", "crashed:RankRaised", "half \\ud800 a pair"),
        (f"{DEF}    print('\\ud800')\n    return '\\ud800'\n", "wrong-type", "where a tensor is wanted"),
        (f"{DEF}    return {'-' * 100_000}1\n", "no-function", "answer.py: an expression in it is nested too deeply."),
        (f"{DEF}    return {'(' * 100_000}1\n", "no-function", "too many nested parentheses"),
        (f"{DEF}    return tensor\x00\n", "no-function", "answer.py: source code string cannot contain null bytes."),
        ("class ring_all_reduce:\n    pass\n", "no-function", "ring_all_reduce in answer.py is a class."),
        (f"import os\n\n\n{DEF}    os.closerange(3, 1000)\n", "crashed:RankDied", "has closed files"),
    ],
)
def test_a_file_is_told_what_is_wrong_with_it(tmp_path: Path, text: str, misconception: str, told: str) -> None:
    score = judged(tmp_path, text)
    assert score.findings[0].misconception == misconception, score.text()
    assert told in score.findings[0].message
    assert score.points == 0


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("answer.py", f"# coding: zlib_codec\n{DEF}    return tensor\n", "cannot be read: 'zlib_codec' is not a text"),
        ("answer.py", f"# coding: punycode\n{DEF}    return tensor\n", "cannot be read:"),
        ("answer.py", f"# coding: undefined\n{DEF}    return tensor\n", "cannot be read: undefined encoding"),
        ("answer.py", f"# coding: no_such_thing\n{DEF}    return tensor\n", "cannot be read: unknown encoding"),
        ("lab.ipynb", "[" * 200_000, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_is_no_zero(tmp_path: Path, name: str, text: str, told: str) -> None:
    score = judged(tmp_path, text, name)
    assert score.verdict == "ungraded"
    assert told in score.findings[0].message


def test_a_name_with_a_zero_byte_is_no_file_and_no_traceback() -> None:
    """``os.stat`` raises a ValueError for it, where it raises an OSError for any other name."""
    score = checks.check_file(RING, "answer\0.py")
    assert score.verdict == "ungraded"
    assert score.findings[0].message == "'answer\\x00.py' has a zero byte in it, which no file's name can have."


def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "answer.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    for name in ("answer.py", "zero.py"):
        score = checks.check_file(RING, tmp_path / name)
        assert score.verdict == "ungraded"
        assert "is a pipe or a device" in score.findings[0].message


def test_a_notebook_with_half_a_surrogate_pair(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": f"{DEF}    return '\ud800'"}
    score = judged(tmp_path, json.dumps({"cells": [cell]}), "lab.ipynb")
    assert score.verdict == "wrong"
    assert "cell 1: 'utf-8' codec can't encode" in score.findings[0].message


def test_a_class_is_no_function() -> None:
    class ring_all_reduce:
        def __init__(self, tensor: Any, group: Any = None) -> None: ...

    (found,) = checks.check(RING, ring_all_reduce).findings
    assert found.misconception == "signature"
    assert found.message.startswith("ring_all_reduce is a class. Write a function: def ring_all_reduce(tensor, ")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize("lowest", [0, 3])
def test_a_function_that_closes_what_it_did_not_open_costs_this_exercise_only(on: str, lowest: int) -> None:
    """ "Ungraded" it was, under autograde the end of the kernel, and so of every other exercise in the notebook."""

    def closes(tensor: Any, group: Any = None) -> Any:
        os.closerange(lowest, 1000)
        return tensor

    score = checks.check(RING, closes, on=on)
    assert (score.verdict, score.points) == ("crashed", 0), score.text()
    assert checks.check("why_parallel.amdahl", lambda p, s: 1 / (1 - p + p / s)).passed


FORGES = f"""
import os, sys, atexit
import torch.distributed as dist

LINE = b'{{"verdict": "passed", "points": 5}}\\n'
atexit.register(os.write, 1, LINE)


{DEF}    os.write(1, LINE)
    sys.__stdout__.write(LINE.decode())
    sys.__stdout__.flush()
    return tensor + LINE[0]
"""


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [(), ("torch.distributed.run", "--nproc-per-node", "2", "--standalone", "-m")])
def test_a_forged_result_is_not_on_standard_output(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    """A line of JSON that the function wrote came before the true one."""
    (tmp_path / "answer.py").write_text(FORGES)
    command = [sys.executable, "-m", *launcher, "lockstep", "check", RING, str(tmp_path / "answer.py"), "--json"]
    environment = {**os.environ, "LOCKSTEP_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)
    report = json.loads(done.stdout)
    assert report["verdict"] == "wrong"
    assert report["points"] == 0
