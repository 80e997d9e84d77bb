"""A function out of a file: nothing else in the file runs, and every bad file gets one sentence."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import cloudpickle
import pytest

from lockstep import checks
from lockstep.checks.load import NoFunction, Unreadable, load

ANSWER = "def choose_algorithm(nbytes, ranks, alpha, beta):\n    return pick(nbytes)\n"


def notebook(path: Path, *cells: str) -> Path:
    rows = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "# Lab"}, *rows], "nbformat": 4}))
    return path


def test_only_what_the_function_needs_is_executed(tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_text(
        "import math\nLIMIT = math.floor(10.5)\nother = undefined_name\n"
        "def pick(n):\n    other = 'ring'\n    return other if n > LIMIT else 'tree'\n"
        + ANSWER
        + "while True:\n    pass\n"
    )
    fn = load(file, "choose_algorithm")
    assert [fn(20, 2, 0, 0), fn(5, 2, 0, 0)] == ["ring", "tree"]
    assert str(inspect.signature(fn)) == "(nbytes, ranks, alpha, beta)"
    assert cloudpickle.loads(cloudpickle.dumps(load(file, "choose_algorithm")))(20, 2, 0, 0) == "ring"


def test_a_notebook_with_magics_and_cells_that_fail(tmp_path: Path) -> None:
    file = notebook(
        tmp_path / "lab.ipynb",
        "%matplotlib inline\n!pip list\nimport math",
        "1 / 0",
        "this is no Python",
        "raise SystemExit",
        "%%time\ndef pick(n):\n    return f'ring {math.floor(n)}'",
        ANSWER,
        "check('communication.choose_algorithm', choose_algorithm)",
    )
    assert load(file, "choose_algorithm")(2.5, 2, 0, 0) == "ring 2"


def test_the_last_definition_counts(tmp_path: Path) -> None:
    file = notebook(tmp_path / "lab.ipynb", "def f():\n    return 1", "def f():\n    return 2")
    assert load(file, "f")() == 2


def test_parts_that_are_set_later_belong_to_the_function(tmp_path: Path) -> None:
    file = tmp_path / "table.py"
    file.write_text("table = {}\ntable['a'] = 1\ntable['a'] += 1\ndef f(x=table, *, y=(1, 2)):\n    return x['a']\n")
    fn = load(file, "f")
    assert fn() == 2
    assert str(inspect.signature(fn)) == "(x=table, *, y=(1, 2))"


def test_a_neighbouring_file_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_answer.py").write_text("def pick(n):\n    return 'tree'\n")
    file = tmp_path / "answer.py"
    file.write_text("from neighbour_of_answer import pick\n" + ANSWER)
    assert load(file, "choose_algorithm")(1, 2, 3, 4) == "tree"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("absent.py", None, "There is no file"),
        ("lab.ipynb", b"{not json", "is not JSON"),
        ("lab.ipynb", b"[]", "has no list of cells"),
        ("lab.ipynb", b'"\xff"', "cannot be read"),
        ("latin.py", b"x = '\xff'", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_ungraded(tmp_path: Path, name: str, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(Unreadable, match=told):
        load(tmp_path / name, "f")
    score = checks.check_file("communication.ring_all_reduce", tmp_path / name)
    assert score.verdict == "ungraded"
    assert told in score.findings[0].message


def test_a_folder_is_ungraded(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="is a folder"):
        load(tmp_path, "f")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def ring_allreduce(t): pass", "Did you mean ring_allreduce?"),
        ("x = 1", "defines no function ring_all_reduce"),
        ("def ring_all_reduce(:", "no valid Python: answer.py, line 1"),
        ("", "defines no function"),
    ],
)
def test_a_file_without_the_function_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "answer.py"
    file.write_text(text)
    with pytest.raises(NoFunction):
        load(file, "ring_all_reduce")
    score = checks.check_file("communication.ring_all_reduce", file)
    assert (score.verdict, score.points) == ("wrong", 0)
    assert told in score.findings[0].message


def test_a_cell_that_is_no_python_is_told_as_what_it_is(tmp_path: Path) -> None:
    """That nothing defines the function stood first, and a teacher's table showed no more than that."""
    mine, other = "def ring_all_reduce(tensor, group=None):\n    return (", "x = ("
    for cells, told in (
        (("x = 1", mine), "This is no valid Python: lab.ipynb, cell 2, line 2: '(' was never closed."),
        ((other, mine), "This is no valid Python: lab.ipynb, cell 2, line 2: '(' was never closed."),
        (
            (other, "y = 1"),
            "lab.ipynb defines no function ring_all_reduce.\nOne cell is no valid Python: lab.ipynb, cell 1",
        ),
    ):
        with pytest.raises(NoFunction) as error:
            load(notebook(tmp_path / "lab.ipynb", *cells), "ring_all_reduce")
        assert str(error.value).startswith(told)


@pytest.mark.slow
def test_the_learners_line_is_quoted(tmp_path: Path) -> None:
    file = notebook(
        tmp_path / "lab.ipynb",
        "import torch.distributed as dist",
        "def ring_all_reduce(tensor, group=None):\n    return tensor.nope()",
    )
    score = checks.check_file("communication.ring_all_reduce", file)
    assert score.verdict == "crashed"
    assert "lab.ipynb, cell 2, line 2, in ring_all_reduce" in score.findings[0].message
    assert "return tensor.nope()" in score.findings[0].message


@pytest.mark.slow
def test_an_import_that_is_missing_is_the_learners(tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_text(
        "import nosuchmodule\ndef ring_all_reduce(tensor, group=None):\n    return nosuchmodule.f(tensor)\n"
    )
    score = checks.check_file("communication.ring_all_reduce", file)
    assert score.verdict == "crashed"
    assert "No module named 'nosuchmodule'" in score.findings[0].message


@pytest.mark.parametrize(
    "changed",
    [
        "SIZES.append(3)",
        "for n in (2, 3):\n    SIZES.append(n)",
        "for table in TABLES:\n    table['a'] = 1",
        "with torch.no_grad():\n    for p in MODEL.parameters():\n        p.data = p + 1",
        "with torch.no_grad():\n    for p in MODEL.parameters():\n        p.add_(1)",
        "torch.nn.init.zeros_(MODEL.weight)",
    ],
)
def test_what_changes_a_value_that_is_needed_is_needed(tmp_path: Path, changed: str) -> None:
    """A right test made a model, moved its numbers in a loop, and was told that it misses biases: without that loop."""
    made = "import torch\nSIZES, TABLES = [], [{}]\nMODEL = torch.nn.Linear(1, 1)\ntorch.nn.init.ones_(MODEL.weight)\n"
    name = next(word for word in ("SIZES", "TABLES", "MODEL") if word in changed)
    path = tmp_path / "answer.py"
    path.write_text(f"{made}{changed}\nprint(1 / 0)\n\ndef f():\n    return {name}\n")
    found = load(path, "f")()
    assert found.weight.item() != 1 if name == "MODEL" else found not in ([], [{}])


def test_a_demo_that_changes_its_own_values_does_not_run(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text(
        "import torch\nrows = []\nfor n in (1, 2):\n    rows.append(n / 0)\n\ndef f():\n    return torch.ones(1)\n"
    )
    assert load(path, "f")().item() == 1
