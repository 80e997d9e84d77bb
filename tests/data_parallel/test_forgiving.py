"""A training forgives what a sorting doesn't: the numbers that lesson 00 says in its sentences."""

from __future__ import annotations

import pytest

from lockstep.experiments.all_reduce_sgd import forgiving


def test_nothing_lost_is_nothing_left() -> None:
    assert forgiving.left_of_sorting(0.0) == 0
    assert forgiving.left_of_training() < 1e-4


def test_a_tenth_of_the_updates_lost() -> None:
    assert forgiving.left_of_sorting(0.1) == pytest.approx(0.36, abs=0.005)
    assert 1e-4 < forgiving.left_of_training(lost=0.1) < 2e-3
    assert [row[0] for row in forgiving.lost_table().rows] == ["0%", "1%", "10%"]


def test_it_does_not_forgive_everything() -> None:
    """Two steps late it arrives; five steps late, with this step, it runs away."""
    assert forgiving.left_of_training(late=2) < 1e-3
    assert forgiving.left_of_training(late=5) > 1


def test_the_sum_of_the_parts_is_the_whole() -> None:
    assert forgiving.apart() < 1e-12
