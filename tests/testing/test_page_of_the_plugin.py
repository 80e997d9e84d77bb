"""docs/pytest.md: each program on it is run, and what stands below some of them is what pytest prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plugin_under_test import PLUGIN

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.reads("docs/pytest.md", "pkg/lockstep/testing/")

PAGE = Path(__file__).parents[2] / "docs" / "pytest.md"
HEAD, *PROGRAMS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.S)


def test_the_page_has_three_bugs_and_more() -> None:
    assert len(PROGRAMS) == 10
    assert sum(bool(told) for _, told in PROGRAMS) == 5


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("program", "told"), PROGRAMS, ids=[re.findall(r"def (test_\w+)", program)[0] for program, _ in PROGRAMS]
)
def test_a_program_of_the_page(pytester: pytest.Pytester, program: str, told: str) -> None:
    """It passes; or it fails, and prints the lines that stand below it."""
    pytester.makepyfile(test_ring=f"{HEAD[0]}\n{program}")
    result = pytester.runpytest_inprocess(*PLUGIN)
    printed = result.stdout.str()
    if told:
        assert [line for line in told.splitlines() if line not in printed] == []
        assert "failed" in result.parseoutcomes()
    else:
        (outcome,) = {"passed", "xfailed"} & set(result.parseoutcomes())
        result.assert_outcomes(**{outcome: result.parseoutcomes()[outcome]})
