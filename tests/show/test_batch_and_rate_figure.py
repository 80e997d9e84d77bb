"""Every row is in the figure and in its words; a rule looks alike in both halves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lockstep.errors import UsageError
from lockstep.show import batch_and_rate
from lockstep.show.svg import WIDTH

HERE = [(64, "linear", 4.0), (16, "linear", 3.0), (16, "as before", 3.0), (64, "as before", 9.5)]
PUBLISHED = [(128, "linear", 23.49), (8192, "as before", 41.67), (65536, "linear", 33.96)]


def layers(half: int) -> Any:
    return batch_and_rate(HERE, PUBLISHED).spec["vconcat"][half]


def test_every_row_says_itself() -> None:
    drawn = batch_and_rate(HERE, PUBLISHED).svg()
    for batch, rule, error in HERE + PUBLISHED:
        assert f'aria-label="{rule}, batch {batch:,}: {error:.4g} % wrong"' in drawn


def test_the_words_have_the_smallest_and_the_largest_batch_of_each_rule() -> None:
    words = batch_and_rate(HERE, PUBLISHED).caption()
    assert "linear 3 % at 16, 4 % at 64; as before 3 % at 16, 9.5 % at 64." in words
    assert "linear 23.49 % at 128, 33.96 % at 65,536; as before 41.67 % at 8,192." in words


def test_a_rule_looks_alike_in_both_halves() -> None:
    here, published = (half["layer"][0]["encoding"] for half in map(layers, (0, 1)))
    assert here["color"] == published["color"]
    assert here["color"]["scale"]["domain"] == ["linear", "as before"]


@pytest.mark.parametrize("bad", [([], PUBLISHED), (HERE, []), ([(0, "linear", 1.0)], PUBLISHED)], ids=str)
def test_a_part_without_rows_is_refused(bad: Any) -> None:
    with pytest.raises(UsageError, match="Both parts need rows"):
        batch_and_rate(*bad)


def test_it_is_no_wider_than_a_figure_may_be() -> None:
    """Else it is scaled down in a narrow window, and its text with it: to less than 11 pixels."""
    wide = [*HERE, (1024, "linear", 100.0)], [*PUBLISHED, (32768, "linear", 100.0)]
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', batch_and_rate(*wide).svg())[0])
    assert width <= WIDTH
