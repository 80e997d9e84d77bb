"""A small course of one lab, with an ordinary exercise and one to be mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockstep.errors import UsageError

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
import torch.distributed as dist
from lockstep import check

# %% [markdown]
# Write `total`.

# %% lab="answer total"
def total(tensor, group=None):
    """The sum over all ranks."""
    ### BEGIN SOLUTION
    secret_of_the_author = tensor.clone()
    dist.all_reduce(secret_of_the_author, group=group)
    return secret_of_the_author
    ### END SOLUTION


# %% lab="tests total"
check("sample.total", total)

# %% lab="given mend_total"
def mend_total(tensor, group=None):
    """It should return the sum."""
    broken_on_purpose = tensor
    return broken_on_purpose


# %% lab="answer mend_total"
def mend_total(tensor, group=None):
    """It should return the sum."""
    mended_by_the_author = tensor.clone()
    dist.all_reduce(mended_by_the_author, group=group)
    return mended_by_the_author


# %% lab="tests mend_total"
check("sample.mend_total", mend_total)
'''


@dataclass(frozen=True)
class Points:
    points: float


def _find(exercise: str) -> Points:
    known = {"sample.total": Points(6), "sample.mend_total": Points(4), "sample.free": Points(0)}
    if exercise not in known:
        raise UsageError(f"There is no exercise {exercise!r}.")
    return known[exercise]


@pytest.fixture
def find() -> Callable[[str], Points]:
    """Stands for lockstep.checks.find in the sample course."""
    return _find


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample's root folder, with its text sources and nothing built."""
    unit = tmp_path / "course" / "90_sample"
    unit.mkdir(parents=True)
    (unit / "lesson.py").write_text(LESSON)
    (unit / "lab.py").write_text(LAB)
    (tmp_path / "course" / "index.py").write_text("# %% [markdown]\n# The front page\n")
    return tmp_path
