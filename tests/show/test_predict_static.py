"""The static figure of predict(), for readers without a browser."""

from __future__ import annotations

import re

from lockstep import predict
from lockstep.show.prediction_field import CHARACTERS


def test_a_long_question_is_told_in_several_lines_and_whole() -> None:
    """The first picture of the course was one line of 150 characters, and its end was cut off."""
    question = "A training takes 100 hours on one machine, of which 95 % can be divided among machines. " * 2
    drawn = predict("static-long", question.strip(), unit="hours").svg()
    lines = re.findall(r'<text[^>]*font-weight="600"[^>]*>([^<]*)<', drawn)
    assert len(lines) > 1
    assert max(map(len, lines)) <= CHARACTERS
    assert " ".join(lines) == question.strip()
    y = [float(v) for v in re.findall(r'<text[^>]* y="([0-9.]+)"', drawn)]
    height = float(re.search(r'viewBox="0 0 [0-9.]+ ([0-9.]+)"', drawn)[1])  # type: ignore[index]
    assert y == sorted(set(y))
    assert y[-1] < height
