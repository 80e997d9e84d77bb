"""Asking for one exercise loads one, and asking what there is loads none."""

import subprocess
import sys
from pathlib import Path

import pytest

from lockstep.checks import exercises, find
from lockstep.checks.listing import INDEX, listed, text
from lockstep.errors import UsageError

pytestmark = pytest.mark.reads("pkg/lockstep/exercises/")

LOADED = """
import sys
from lockstep.checks import find
assert find({id!r}).id == {id!r}
print(*sorted(name for name in sys.modules if name.startswith("lockstep.exercises.") and name.endswith(".exercise")))
"""


def python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("id", ["communication.ring_all_reduce", "why_parallel.amdahl", "gpu.saxpy_grid_stride"])
def test_to_find_an_exercise_imports_that_one(id: str) -> None:
    """It imported all hundred, 643 modules, and each check waited more than a second for them."""
    assert python(LOADED.format(id=id)).split() == [f"lockstep.exercises.{id}.exercise"]


def test_what_is_found_is_what_is_in_the_register() -> None:
    assert all(find(exercise.id) is exercise for exercise in exercises())


def test_exercises_stand_in_the_order_of_the_course() -> None:
    topics = [exercise.topic for exercise in exercises()]
    assert list(dict.fromkeys(topics)) == sorted(set(topics), key=topics.index)
    for topic in set(topics):
        numbers = [exercise.number for exercise in exercises() if exercise.topic == topic]
        assert numbers == sorted(numbers), topic


def test_the_index_says_what_the_exercises_say() -> None:
    assert INDEX.read_text(encoding="utf-8") == text(exercises()), "run `lockstep build`"
    assert [one.id for one in listed()] == [exercise.id for exercise in exercises()]
    assert [(one.wrong, one.right) for one in listed()] == [(e.wrong, e.right) for e in exercises()]


@pytest.mark.parametrize(
    "id", ["", "communication", "communication.", "communication.tensors", "communication.wrong", "ring_all_reduce.x",
           "communication/ring_all_reduce", "../checks.exercise", "communication.ring_all_reduce.wrong", ".", "a.b"],
)  # fmt: skip
def test_what_is_no_exercise_is_no_file_either(id: str) -> None:
    with pytest.raises(UsageError, match="There is no exercise"):
        find(id)


@pytest.mark.parametrize("command", [["units"], ["units", "--json"], ["progress"]])
def test_a_list_of_exercises_needs_neither_them_nor_torch(command: list[str], tmp_path: Path) -> None:
    program = (
        f"import os, sys; os.environ['LOCKSTEP_HOME'] = {str(tmp_path)!r}\n"
        "from lockstep import progress\n"
        "progress.record_score('communication.ring_all_reduce', 3.0, 4.0, 'wrong')\n"
        f"from lockstep.cli import main; assert main({command!r}) == 0\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)\n"
        "assert not [name for name in sys.modules if name.startswith('lockstep.exercises')]\n"
    )
    assert "communication" in python(program).lower()
