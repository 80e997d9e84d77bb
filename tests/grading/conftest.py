"""A small course of one lab, with an ordinary exercise and one to be mended."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockstep.errors import UsageError
from lockstep.grading.course import root

HERE = Path(__file__).parent

LESSON = """\
# %% [markdown]
# # A sample

# %%
1 + 1

# %%
1 + 1
"""

LAB = '''\
# %% [markdown] lab="readonly intro"
# # A lab

# %% lab="readonly imports"
from sample_check import check

# %% [markdown]
# Write `total`.

# %% lab="answer total"
def total(numbers):
    """The sum of the list ``numbers``."""
    ### BEGIN SOLUTION
    secret_of_the_author = 0
    for n in numbers:
        secret_of_the_author += n
    return secret_of_the_author
    ### END SOLUTION


# %% lab="tests total"
check("sample.total", total)

# %% lab="given mend_total"
def mend_total(numbers):
    """It should return the sum, and stops too early."""
    broken_on_purpose = sum(numbers[:-1])
    return broken_on_purpose


# %% lab="answer mend_total"
def mend_total(numbers):
    """It should return the sum."""
    mended_by_the_author = sum(numbers)
    return mended_by_the_author


# %% lab="tests mend_total"
check("sample.mend_total", mend_total)
'''


@dataclass(frozen=True)
class Points:
    points: float
    core: bool = True
    minutes: int = 10


def _find(exercise: str) -> Points:
    known = {
        "sample.total": Points(6),
        "sample.mend_total": Points(4),
        "sample.free": Points(0),
        "sample.more": Points(2, core=False),
    }
    if exercise not in known:
        raise UsageError(f"There is no exercise {exercise!r}.")
    return known[exercise]


@pytest.fixture(scope="session")
def find() -> Callable[[str], Points]:
    """Stands for lockstep.checks.find in the sample course."""
    return _find


def write_sample(at: Path) -> Path:
    """The sample's text sources and the project's own nbgrader configuration; nothing is built."""
    unit = at / "course" / "90_sample"
    unit.mkdir(parents=True)
    (unit / "lesson.py").write_text(LESSON)
    (unit / "lab.py").write_text(LAB)
    (at / "course" / "index.py").write_text("# %% [markdown]\n# The front page\n")
    shutil.copy(root() / "nbgrader_config.py", at)
    shutil.copy(HERE / "sample_check.py", at)
    return at


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return write_sample(tmp_path)


@pytest.fixture(scope="session")
def sample_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One sample for a whole session, for tests that are slow to prepare."""
    return write_sample(tmp_path_factory.mktemp("sample"))
