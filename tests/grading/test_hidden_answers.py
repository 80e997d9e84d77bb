"""In a sandbox there is no answer to be found: its text lay in the package, and its text, executed, had full points."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lockstep.checks import exercises, find
from lockstep.checks.guard import LibraryAnswer
from lockstep.errors import WorldUnavailable
from lockstep.grading import grade_submission
from lockstep.grading.hidden_answers import answers, files, without_answers
from lockstep.grading.sandbox import FORK
from lockstep.grading.sandbox_check import kind_of_sandbox

MODULE = '''
"""What it is about."""
from dataclasses import dataclass

HALF = 1 / 2
COUNTS = {"saxpy": lambda n: 2 * n}

@dataclass(frozen=True)
class Point:
    x: float

    @property
    def half(self): return self.x * HALF

def answer(x, half=HALF):
    """How."""
    def inner(): return x * half
    return inner()

def helper(x): return x + 1
'''


def made(text: str) -> dict:
    space: dict = {"__name__": "module"}
    exec(compile(text, "module.py", "exec", dont_inherit=True), space)
    return space


def test_names_and_signatures_are_left_and_all_that_they_do_is_refused():
    seen = made(without_answers(MODULE))
    assert (seen["HALF"], seen["Point"](3.0).x, seen["answer"].__defaults__) == (0.5, 3.0, (0.5,))
    for call in (
        lambda: seen["answer"](1),
        lambda: seen["helper"](1),
        lambda: seen["COUNTS"]["saxpy"](1),
        lambda: seen["Point"](3.0).half,
    ):
        with pytest.raises(LibraryAnswer):
            call()
    assert "inner" not in without_answers(MODULE)


def test_what_an_exercise_allows_is_left_with_the_classes_that_it_may_need():
    seen = made(without_answers(MODULE, ["helper"]))
    assert (seen["helper"](1), seen["Point"](3.0).half) == (2, 1.5)
    with pytest.raises(LibraryAnswer):
        seen["answer"](1)


def test_of_every_exercise_the_reference_is_withheld():
    for exercise in exercises():
        seen = files(exercise)
        name = exercise.reference.partition(":")[2]
        texts = [content.decode() for path, content in seen.items() if path.endswith(".py")]
        found = [n for t in texts for n in ast.walk(ast.parse(t)) if isinstance(n, ast.FunctionDef) and n.name == name]
        assert found, exercise.id
        assert {ast.unparse(statement) for function in found for statement in function.body} == {
            "__import__('lockstep.grading.hidden_answers', fromlist=['refuse']).refuse()"
        }, exercise.id


def test_its_bytecode_is_withheld_too():
    """Python had been there, and left it beside the text."""
    exercise = find("why_parallel.amdahl")
    source = Path(sys.modules[exercise.reference_function().__module__].__file__ or "").resolve()
    left = sorted((source.parent / "__pycache__").glob("speedup.*.pyc"))
    assert left
    assert [files(exercise)[str(path)] for path in left] == [b""] * len(left)


def test_the_folders_of_right_and_wrong_answers_are():
    for exercise in exercises():
        assert {str(f.resolve()) for f in (exercise.right, exercise.wrong) if f.exists()} <= set(answers())


LOOKS = """
import json, sys
from pathlib import Path
from lockstep.checks import find
from lockstep.grading import sandbox, hidden_answers
from lockstep.grading.sandbox_view import view
exercise = find("why_parallel.amdahl")
files = hidden_answers.files(exercise)
folders = [exercise.right, exercise.wrong, *map(Path, sys.argv[1:])]
sandbox.enter(view((*sys.argv[1:], *hidden_answers.answers()), files), sandbox.Limits(), kept=[])
print(json.dumps([[[p.name for p in f.iterdir()] if f.exists() else [] for f in folders],
                  [Path(path).read_text() == text.decode() for path, text in files.items()]]))
"""


def test_from_inside_there_is_nothing(tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private/file").touch()
    try:
        kind_of_sandbox(FORK)
    except WorldUnavailable as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [sys.executable, "-c", LOOKS, tmp_path / "private"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout, done.stderr
    folders, alike = json.loads(done.stdout)
    assert folders == [[], [], []]
    assert set(alike) == {True}


FORGETS = """
from lockstep.launch import survey
from lockstep.cost import fit
from lockstep.grading import hidden_answers
from lockstep.checks import find
kept, code = fit.fit_alpha_beta, fit.fit_alpha_beta.__code__
exercise = find("communication.fit_alpha_beta")
real = hidden_answers.Path.read_text
texts = hidden_answers.files(exercise)
hidden_answers.Path.read_text = lambda path, **how: texts[str(path.resolve())].decode()  # as it is seen in a sandbox
hidden_answers.forget(hidden_answers.module_of(exercise))
hidden_answers.Path.read_text = real
assert kept.__code__ is not code
try:
    kept([1, 2, 3], [1, 2, 3])
except BaseException as error:
    print(type(error).__name__)
"""

LOADS = """
import importlib, sys
from lockstep.grading.sandbox_host import MODULES
from lockstep.forking.forkserver import PRELOAD
for name in (*PRELOAD, *MODULES):
    importlib.import_module(name)
print(*sys.modules)
"""


@pytest.mark.slow
def test_what_a_process_had_loaded_before_is_forgotten():
    """The engine loads one of the references, to know how fast this machine's processes talk."""
    done = subprocess.run([sys.executable, "-c", FORGETS], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "LibraryAnswer\n", done.stderr


@pytest.mark.slow
def test_nothing_of_another_answer_is_loaded_before_there_is_a_sandbox():
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, timeout=120, check=True)
    before = set(done.stdout.split())
    packages = {exercise.reference.partition(":")[0] for exercise in exercises()}
    assert {p for p in packages if any(f"{name}.".startswith(f"{p}.") for name in before)} == {"lockstep.cost.fit"}


@pytest.mark.slow
@pytest.mark.runs("exercise")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.id)
def test_a_right_answer_needs_nothing_of_it(exercise, tmp_path, monkeypatch):
    """Nor does what looks at it, in the sandbox."""
    try:
        kind_of_sandbox(FORK)
    except WorldUnavailable as error:
        pytest.skip(str(error))
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.setenv("LOCKSTEP_SEED", "a secret")
    file = next(iter(sorted(exercise.right.glob("*.py"))))
    task = grade_submission.Task("ada", tmp_path, {}, exercise.topic, os.environ["LOCKSTEP_SEED"], False, (), FORK)
    found = grade_submission._judged(exercise.id, file, task)
    assert (found.score["verdict"], found.score["findings"], found.ended) == ("passed", [], [])
