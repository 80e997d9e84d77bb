"""Tables that a lesson shows: what they say is what was run."""

from __future__ import annotations

import pytest

from lockstep import collectives
from lockstep.cost import algorithms
from lockstep.experiments.communication.all_reduce_costs import Counts, counted, timed
from lockstep.experiments.communication.lecture_notes import all_reduce_table
from lockstep.experiments.communication.patterns import patterns
from lockstep.machines import alpha_beta

FORMULAS = {
    collectives.ring_all_reduce: algorithms.ring_all_reduce,
    collectives.unchunked_ring_all_reduce: algorithms.unchunked_ring_all_reduce,
    collectives.halving_doubling_all_reduce: algorithms.halving_doubling_all_reduce,
    collectives.recursive_doubling_all_reduce: algorithms.recursive_doubling_all_reduce,
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("K", [2, 4, 8])
@pytest.mark.parametrize("all_reduce", FORMULAS, ids=lambda way: way.__name__)
def test_what_is_counted_is_what_the_formulas_say(all_reduce, K: int) -> None:
    cost = FORMULAS[all_reduce](1000, K)
    tensors = cost.nbytes_per_rank / 1000
    assert counted(all_reduce, K) == Counts(cost.rounds, tensors, tensors, cost.nbytes / 1000)


@pytest.mark.parametrize("K", [2, 4, 16])
def test_one_reduce_after_another_takes_rounds_in_proportion_to_k_squared(K: int) -> None:
    """A reduce may begin while the one before ends, so they are a few less than its messages."""
    assert (K - 1) ** 2 / 2 < counted(collectives.one_reduce_after_another, K).rounds <= K * (K - 1)


@pytest.mark.slow
def test_the_notes_table_has_their_words_and_our_counts() -> None:
    table = all_reduce_table(2, 4)
    rows = {row[0]: row for row in table.rows}
    assert rows["recursive doubling"][1:4] == ["Recursive Halving", "O(log K)", "1 → 2"]
    assert rows["ring, K chunks"][-1] == "2 → 6"
    assert 'scope="col"' in table._repr_html_()
    assert "1 → 2" in repr(table)


def test_patterns_shows_what_every_rank_has() -> None:
    rows = {row[0]: row[1:] for row in patterns(3).rows}
    assert rows["before"] == ["10 11 12", "20 21 22", "30 31 32"]
    assert rows["all-reduce"] == ["60 63 66"] * 3
    assert rows["reduce to 0"] == ["60 63 66", "–", "–"]
    assert rows["scatter from 0"] == ["10", "11", "12"]
    assert rows["reduce-scatter"] == ["60", "63", "66"]
    assert rows["all-to-all"] == ["10 20 30", "11 21 31", "12 22 32"]
    assert rows["all-gather"] == ["10 11 12 20 21 22 30 31 32"] * 3


def test_timed_is_the_time_of_the_slowest_rank() -> None:
    """A star of 2 (K - 1) messages of 8 bytes: rank 0 is done last."""
    assert timed(collectives.star_all_reduce, nbytes=8, ranks=4, on=alpha_beta(1, 0)) == 6
