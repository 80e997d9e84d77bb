"""What lesson 00 says in sentences, counted anew; and that nothing in it gives away what later units ask for."""

from __future__ import annotations

import re

import pytest

from lockstep.cost import training
from lockstep.cost.speedup import amdahl, parallel_fraction_alone
from lockstep.grading.course import root
from lockstep.lessons.behind import load

LESSON, MORE = (root() / "course/00_why_parallel" / name for name in ("lesson.py", "more.py"))
YEAR = 365.25 * 24 * 3600


def test_years_of_gpt4() -> None:
    assert [round(2.0e25 / rate / YEAR) for rate in (2.25e15, 1745e12, 0.9e15)] == [282, 363, 704]
    assert pytest.approx(2.2e10, rel=0.02) == 2.0e25 / 0.9e15


def test_bytes_of_llama() -> None:
    n = training.LLAMA_65B
    assert n == pytest.approx(65.3e9, rel=1e-3)
    assert 457e9 / n == pytest.approx(7, abs=0.005)
    told = {row[0]: row[2:] for row in training.recipes_table(n, 192e9).rows}
    assert told["adam mixed"] == ["16", "1,045 GB", "12 billion"]
    assert told["adam bf16"] == ["12", "783 GB", "16 billion"]
    assert "7" not in [row[0] for row in told.values()]
    assert round(192 / 7) == 27


def test_the_data_of_dbrx() -> None:
    quiz = load("why_parallel").quizzes["why-parallel-servers"]
    assert (60e12, quiz.answer) == (12e12 * 5, -(-12e12 * 4 // 13e12))


def test_no_hours_of_amdahl_and_one_speedup_by_both_laws() -> None:
    assert 100 / amdahl(0.95, 100) == pytest.approx(5.95)
    assert amdahl(0.95, 2) == pytest.approx(1.90, abs=0.01)
    assert amdahl(0.99, 100) == pytest.approx(50, abs=0.5)
    assert amdahl(parallel_fraction_alone(0.95, 100), 100) == pytest.approx(95.05)


@pytest.mark.parametrize("path", [LESSON, MORE], ids=lambda path: path.stem)
def test_the_survey_does_not_give_away_what_unit_04_asks_for(path) -> None:
    """Unit 04 asks how long an empty message takes between two processes; its survey has measured that."""
    text = path.read_text()
    assert not re.search(r"print\(machine\)|doctor --survey|inside\.alpha|ping_pong", text)
