"""The empty function of a lab is told as such: it may be called, compiled, or only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep import checks
from lockstep.checks.exercise import Exercise

DECORATORS = {"cpu": "from numba import njit\n\n\n@njit\n", "gpu": "from numba import cuda\n\n\n@cuda.jit\n"}
PLAIN = ("roofline", "place_kernels", "diagnose", "fragment_matmul")  # no kernels


@pytest.mark.runs("exercise")
@pytest.mark.sampled(10)  # each untouched lab is checked whole by tests/grading/test_labs.py
@pytest.mark.parametrize("exercise", checks.exercises(), ids=lambda e: e.function)
def test_what_is_not_written_is_told_so_in_every_exercise(exercise: Exercise, tmp_path: Path) -> None:
    """Called, compiled or only read: the empty function of each lab."""
    decorator = "" if exercise.function in PLAIN else DECORATORS.get(exercise.topic, "")
    (tmp_path / "answer.py").write_text(f"{decorator}def {exercise.signature}:\n    raise NotImplementedError\n")
    score = checks.check_file(exercise.id, tmp_path / "answer.py")
    assert [f.misconception for f in score.findings] == ["not-written"], score.text()


def test_a_kernel_that_raises_another_error_is_written(tmp_path: Path) -> None:
    exercise = checks.find("gpu.vector_add")
    (tmp_path / "answer.py").write_text(
        DECORATORS["gpu"] + f'def {exercise.signature}:\n    raise ValueError("NotImplementedError")\n'
    )
    score = checks.check_file(exercise.id, tmp_path / "answer.py")
    assert "not-written" not in [f.misconception for f in score.findings]
    assert score.points == 0
