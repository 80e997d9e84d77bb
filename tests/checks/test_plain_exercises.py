"""Two exercises of the plain tier, ``tests/plain_course``: one file each, in which nothing of Lockstep stands. Answers
to them are run, judged and explained as those to any other exercise, and harm nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lockstep.checks import Score, check, check_file, check_reference, find
from lockstep.checks.known import known_answers
from lockstep.checks.listing import listed
from lockstep.checks.plain_file import read
from lockstep.checks.plain_text import without_answers
from lockstep.checks.score import onward
from lockstep.checks.verdict import check_known
from lockstep.cli import main
from lockstep.errors import UsageError

COURSE = Path(__file__).parents[1] / "plain_course"
UNIT = COURSE / "course/01_shards"
MEAN, LEFT = "shards.mean_of_shards", "shards.left_neighbour"
pytestmark = pytest.mark.reads("tests/plain_course/")


def mostly_slow(names: Iterable[str], *quick: str) -> list[Any]:
    """Each name a parameter; those that are not ``quick`` are not for ``make test``."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.fixture
def course(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(COURSE)
    return COURSE


@pytest.fixture
def handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder: what came with the lab, and nothing of the course."""
    files = [read(UNIT / f"{name}.py", "shards") for name in ("mean_of_shards", "left_neighbour")]
    told = {"exercises": {file.id: without_answers(file) for file in files}}
    (tmp_path / "exercises.json").write_text(json.dumps(told))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answered(tmp_path: Path, body: str, exercise: str = MEAN) -> Score:
    """The score of a function with this body."""
    head = find(exercise).signature
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    imports = "import gc, os, sys\nimport torch\nimport torch.distributed as dist\n"
    (tmp_path / "answer.py").write_text(f"{imports}\n\ndef {head}:\n{lines}\n")
    return check_file(exercise, tmp_path / "answer.py", keep=False)


RIGHT = """\
kept = [n for shard in shards for n in shard if n >= at_least]
if not kept:
    raise ValueError("none")
return sum(kept) / len(kept)"""


@pytest.mark.parametrize("id", [LEFT, str(UNIT / "mean_of_shards.py")])
def test_the_solution_in_the_file_passes(course: Path, id: str) -> None:
    score = check_reference(id)
    assert score.passed, score.text()


def test_it_is_found_by_its_file_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find(str(UNIT / "mean_of_shards.py")).id == MEAN
    with pytest.raises(UsageError, match=r"There is no exercise 'shards\.mean_of_shards'"):
        find(MEAN)
    with pytest.raises(UsageError, match=r"There is no file nowhere\.py"):
        find("nowhere.py")


TOLD = {
    "a right one": (RIGHT, 4, ""),
    "an empty one": ("pass", 0, "With case 1: mean_of_shards([[1, 2, 3], [6]]) gives nothing (None); it is 3."),
    "the stub": ("raise NotImplementedError()", 0, "This is not written yet"),
    "the sum": (
        RIGHT.replace(" / len(kept)", ""), 1.25,
        "With case 1: mean_of_shards([[1, 2, 3], [6]]) gives 12; it is 3.",
    ),
    "a known wrong one": (
        "parts = [[n for n in s if n >= at_least] for s in shards]\nmeans = [sum(p) / len(p) for p in parts if p]\n"
        "if not means:\n    raise ValueError('none')\nreturn sum(means) / len(means)", 2.5,
        "You take the mean of the shards' means.",
    ),
    "no exception": (
        RIGHT.replace('raise ValueError("none")', "return 0.0"), 3.25,
        "With no numbers: mean_of_shards([[], []]) should raise ValueError, and gives 0.",
    ),
    "another exception": (
        RIGHT.split("if not")[0] + "return sum(kept) / len(kept)", 3.25,
        "With no numbers: mean_of_shards([[], []]) should raise ValueError, and raises ZeroDivisionError.",
    ),
    "a subclass": (RIGHT.replace('ValueError("none")', "UnicodeError"), 4, ""),
    "a subclass of its own": (
        "class NoNumbers(ValueError):\n    pass\n" + RIGHT.replace('ValueError("none")', "NoNumbers"), 4, "",
    ),
    "a subclass of a library's": ("import json\n" + RIGHT.replace('raise ValueError("none")', "json.loads('')"), 4, ""),
    "a generator": ("return (n for n in [3.0])", 0, "gives a generator; it is 3. Make a list of the generator"),
    "changed arguments": ("shards.sort(key=len)\n" + RIGHT, 1.25, "changes the order of shards"),
    "one that remembers": (
        "gc.mine = getattr(gc, 'mine', 0) + 1\nif gc.mine > 1:\n    return 0.0\n" + RIGHT, 0.5,
        "With an empty shard it is right in a run of its own, and not in a run with other calls",
    ),
    "the first number": (
        RIGHT.replace("sum(kept) / len(kept)", "kept[0]"), 1.25,
        "With case 1: mean_of_shards([[1, 2, 3], [6]]) gives 1; it is 3.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", mostly_slow(TOLD, "an empty one", "a known wrong one", "another exception"))
def test_what_an_answer_is_told(course: Path, tmp_path: Path, name: str) -> None:
    body, points, told = TOLD[name]
    score = answered(tmp_path, body)
    assert told in score.findings[0].message if told else not score.findings, score.text()
    assert score.points == points, score.text()
    assert not re.search("to the end|fraction", score.text()), "it is no crash, and Python's error no riddle"


@pytest.mark.slow
def test_an_assert_of_the_teachers_is_told_with_its_sentence_and_the_call(course: Path, tmp_path: Path) -> None:
    score = answered(tmp_path, "kept = [n for s in shards for n in s if n >= at_least]\nreturn kept[0]")
    told = next(f.message for f in score.findings if f.misconception == "fails-check")
    assert told.startswith('With the check "shards in any order": mean_of_shards([[')
    assert told.endswith("The order of the shards does not matter.")


HOSTILE = {
    "ends its process": ("os._exit(0)", "RankDied"),
    "looks for what is expected": (
        "frame, found = sys._getframe(), []\n"
        "while frame:\n    found += [frame.f_locals, frame.f_globals, frame.f_code.co_consts]\n"
        "    frame = frame.f_back\n"
        "found += [o for o in gc.get_objects() if isinstance(o, (tuple, list, dict))]\n"
        "seen = [str(o)[:5000] for o in found if 'an empty shard' in str(o)[:5000] and 'found' not in str(o)[:5000]]\n"
        "seen += [type(o).__name__ for o in gc.get_objects() if type(o).__name__ in ('PlainFile', 'Tried')]\n"
        "return 3.0 if seen else 12.5", "gives 12.5; it is 3"),
    "asks Lockstep for the solution": (
        "from lockstep.checks.register import find\n"
        f"return find({str(UNIT / 'mean_of_shards.py')!r}).reference_function()(shards, at_least)",
        "You call Lockstep's own answer",
    ),
    "makes every comparison true": (
        "import builtins, math\nmath.isclose = torch.isclose = builtins.all = lambda *a, **k: True\nreturn 12.5",
        "gives 12.5; it is 3",
    ),
    "is equal to everything": (
        "class Equal(float):\n    def __eq__(self, other): return True\n    __hash__ = None\nreturn Equal(12.5)",
        "gives an Equal; it is 3.",
    ),
    "sends what is no data": (
        "import lockstep.checks.returned as r\nr.as_data = lambda value: {'tuple': {'dict': 1}}\nreturn 12.5",
        "gives 12.5; it is 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", mostly_slow(HOSTILE, "looks for what is expected"))
def test_a_hostile_answer_earns_nothing_and_harms_nobody(course: Path, tmp_path: Path, name: str) -> None:
    body, told = HOSTILE[name]
    score = answered(tmp_path, body)
    assert score.points <= 0.5, score.text()
    assert score.verdict in ("wrong", "crashed")
    assert told in f"{score.findings[0].misconception} {score.findings[0].message}", score.text()
    assert answered(tmp_path, RIGHT).passed


@pytest.mark.slow
def test_a_loop_that_never_ends_is_told_to_a_learner_who_has_no_solution(handed_out: Path) -> None:
    """Where time runs out, the course's own answer is timed as well. A learner has none of a plain exercise, and the
    stub in its place failed: "this machine is too busy"."""
    score = answered(handed_out, "while True:\n    pass")
    assert score.verdict == "crashed", score.text()
    assert "did not end within 5 seconds" in score.text()


RANKS = {
    "the reference": ("out = torch.empty_like(tensor)\nn, r = dist.get_world_size(), dist.get_rank()\n"
                      "s = dist.isend(tensor, (r + 1) % n)\ndist.recv(out, (r - 1) % n)\ns.wait()\nreturn out", ""),
    "its own": ("return tensor", "on rank 0: left_neighbour(tensor([0.0, 0.0, 0.0, 0.0])) gives tensor([0, 0, 0, 0])"),
    "a list": ("return tensor.tolist()", "gives [0, 0, 0, 0]; it is a tensor of shape (4,)."),
    "a circle of sends": ("dist.send(tensor, (dist.get_rank() + 1) % 3)\nreturn tensor", "wait"),
}  # fmt: skip


@pytest.mark.parametrize("name", mostly_slow(RANKS, "its own"))
def test_what_an_answer_on_ranks_is_told(course: Path, tmp_path: Path, name: str) -> None:
    body, told = RANKS[name]
    score = answered(tmp_path, body, LEFT)
    assert told in " ".join(score.text().split()) if told else score.passed, score.text()


@pytest.mark.slow
def test_a_function_of_no_arguments_on_ranks(tmp_path: Path) -> None:
    """To tell whether an answer returns what it was given, its first argument was looked at: there is none."""
    text = (UNIT / "left_neighbour.py").read_text()
    head = text[: text.index("def ")].replace("The left", "No")
    body = "def my_rank():\n    return dist.get_rank()\n\n\nranks = 2\ncases = [((), {0: 0, 1: 1})]\n"
    (tmp_path / "my_rank.py").write_text(head + body)
    (tmp_path / "zero.py").write_text("def my_rank():\n    return 0\n")
    exercise = str(tmp_path / "my_rank.py")
    assert check_reference(exercise).passed
    score = check_file(exercise, tmp_path / "zero.py", keep=False)
    assert "With case 1, on rank 1: my_rank() gives 0; it is 1." in score.text()


@pytest.mark.slow
def test_it_is_tried_apart_as_others_are(course: Path, tmp_path: Path) -> None:
    """Under a grader right values are tried on processes, which share nothing."""
    (tmp_path / "answer.py").write_text(
        f"import torch, torch.distributed as dist\n\n\ndef left_neighbour(tensor):\n"
        f"    {RANKS['the reference'][0].replace(chr(10), chr(10) + '    ')}\n"
    )
    assert check_file(LEFT, tmp_path / "answer.py", keep=False, apart=True).passed


@pytest.mark.slow
def test_a_known_wrong_answer_is_told_its_docstring(course: Path) -> None:
    (known,) = known_answers(find(MEAN))
    assert (known.name, known.misconception) == ("wrong_mean_of_means", "mean-of-means")
    assert check_known(MEAN, known).findings[0].misconception == "mean-of-means"


def test_a_wrong_answer_that_is_right_is_told_to_its_teacher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = 'def wrong_one(x):\n    """You add."""\n    return x + x\n'
    text = '"""Double"""\n\n\ndef double(x):\n    return 2 * x\n\n\n'
    (tmp_path / "double.py").write_text(f"{text}cases = [(1, 2)]\n\n\n{right}")
    assert main(["check", str(tmp_path / "double.py"), "--wrong"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "double.py, line 11: wrong_one passes all cases and checks. Add a case that it fails, or leave it" in told


def test_on_ranks_each_has_the_exception_that_one_has_raised(tmp_path: Path) -> None:
    """Compared with a known wrong answer, by rank, an exception that is wanted had nothing on the others."""
    body = "def halves(x):\n    if x % 2:\n        raise ValueError\n    return x // 2\n\n\n"
    known = 'def wrong_zero(x):\n    """You give 0."""\n    return 0\n'
    text = f'"""Halves"""\n\n\n{body}ranks = 2\ncases = [(3, ValueError), (4, 2)]\n\n\n{known}'
    (tmp_path / "halves.py").write_text(text)
    (tmp_path / "answer.py").write_text("def halves(x):\n    return 1 if x % 2 else [][0]\n")
    told = check_file(str(tmp_path / "halves.py"), tmp_path / "answer.py", keep=False).text()
    assert "With case 1: halves(3) should raise ValueError." in told
    (tmp_path / "answer.py").write_text("def halves(x):\n    return x // 2 if x % 2 == 0 else [][0]\n")
    score = check_file(str(tmp_path / "halves.py"), tmp_path / "answer.py", keep=False)
    assert "With case 1: halves(3) should raise ValueError, and raises IndexError." in score.text(), score.text()
    assert "answer.py, line 2, in halves" in score.text()


# ---- what a learner has


def test_a_learner_gets_no_solution_and_no_hidden_test(handed_out: Path) -> None:
    text = (handed_out / "exercises.json").read_text()
    assert "hidden numbers" not in text
    assert "Nobody hands this comment out" not in text
    assert "sum(kept) / len(kept)" not in text.replace("`sum(kept) / len(kept)`", "")
    assert "isend" not in text
    assert "raise NotImplementedError()" in text


def test_a_learners_notebook_checks_without_the_course(handed_out: Path) -> None:
    def mean_of_shards(shards, at_least=float("-inf")):
        kept = [n for shard in shards for n in shard if n >= at_least]
        if not kept:
            raise ValueError
        return sum(kept) / len(kept)

    score = check(MEAN, mean_of_shards)
    assert score.passed, score.text()
    assert onward(score) == "That was the last exercise of this lab."
    assert [e.number for e in listed() if e.topic == "shards"] == [1, 2]
    with pytest.raises(UsageError, match=r"The solution of shards\.mean_of_shards is not here"):
        check_reference(MEAN)


def test_random_numbers_of_a_check_are_others_under_grading(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> object:
        exercise = find(MEAN)
        from lockstep.checks.seeds import seed

        case = exercise.cases(1, seed(MEAN, 1))[-1]
        return exercise.inputs(case, 0)[0]

    published = drawn()
    assert drawn() == published
    monkeypatch.setenv("LOCKSTEP_SEED", "secret")
    assert drawn() != published


def test_the_commands_that_take_an_exercise_take_this_one(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", MEAN]) == 0
    told = capsys.readouterr().out
    assert "an empty shard\n      mean_of_shards([[], [4]]), line 25\n" in told
    assert 'the check "shards in any order"' in told
    assert main(["units", "--json"]) == 0
    (unit,) = json.loads(capsys.readouterr().out)["units"]
    assert (unit["id"], unit["number"], unit["title"]) == ("shards", 1, "Shards")
    left, mean = unit["exercises"]
    assert mean == {
        "id": MEAN, "points": 4, "minutes": 15, "signature": "mean_of_shards(shards, at_least=float('-inf'))",
        "kind": "write", "core": True, "mutants": 1, "alternatives": 0,
    }  # fmt: skip
    assert left["id"] == LEFT
