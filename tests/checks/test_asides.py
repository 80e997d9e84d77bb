"""A wrong result of compiled code comes with what its author can see the mistake by."""

from pathlib import Path

from lockstep import checks

MEAN = """
from numba import njit


@njit
def dot(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total / max(1, x.size)
"""


def test_a_wrong_sum_is_told_with_what_ones_give(tmp_path: Path) -> None:
    """ "The result is -5.644, not -220.1" was all that was said of a mean."""
    (tmp_path / "answer.py").write_text(MEAN)
    score = checks.check_file("cpu.dot", tmp_path / "answer.py")
    assert "Where every element is 1, it is 1, and should be 39." in score.findings[0].message, score.text()
