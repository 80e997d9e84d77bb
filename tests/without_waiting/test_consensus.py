"""The disagreement of ranks that gossip shrinks as |λ₂| says, measured in runs."""

import pytest
import torch

from lockstep.experiments.without_waiting.consensus import Consensus, consensus, consensus_table, graphs
from lockstep.experiments.without_waiting.decentralised import d_psgd_table
from lockstep.without_waiting.gossip import one_peer_exponential, ring, second_eigenvalue

HALVED = Consensus("halved", [ring(4)], [1.0, 0.5, 0.25, 0.125, 0.0625], 2.0)


@pytest.fixture(scope="module")
def runs() -> list[Consensus]:
    tried = {name: W for name, W in graphs(8).items() if name in ("ring", "exponential", "one-peer exponential")}
    return [consensus(name, W) for name, W in tried.items()]


@pytest.mark.slow
def test_a_step_multiplies_the_disagreement_by_the_second_eigenvalue(runs: list[Consensus]) -> None:
    for one in runs[:2]:
        assert one.rate == pytest.approx(one.second_eigenvalue, rel=0.05)
        assert one.disagreement == sorted(one.disagreement, reverse=True)
        assert one.steps is not None


def test_one_peer_at_a_time_agrees_after_three_steps(runs: list[Consensus]) -> None:
    one = runs[2]
    assert one.steps == 3
    assert one.rate is None
    assert one.second_eigenvalue == 0.0
    assert one.sent == 1


def test_of_matrices_by_turns_the_product_counts() -> None:
    by_turns = Consensus("turns", one_peer_exponential(6), [], 1.0)
    W = torch.linalg.multi_dot(one_peer_exponential(6)[::-1])
    assert by_turns.second_eigenvalue == pytest.approx(second_eigenvalue(W) ** (1 / 3))


def test_the_rate_is_that_of_the_later_half() -> None:
    assert HALVED.rate == pytest.approx(0.5)
    assert HALVED.steps is None


def test_the_table_has_a_row_for_each_graph_and_says_where_steps_ran_out() -> None:
    rows = consensus_table(ranks=4, most=6).rows
    assert [row[0] for row in rows] == list(graphs(4))
    assert rows[0][2:4] == ["0.333", "0.333"]
    assert rows[1][4] == "more than 6"
    assert rows[-1][3] == "0 after step 1"


@pytest.mark.slow
def test_models_differ_where_the_gap_is_small_and_complete_averaging_makes_them_one() -> None:
    tried = {name: W for name, W in graphs(4).items() if name in ("ring", "complete")}
    ring_row, complete_row = d_psgd_table(ranks=4, steps=8, tried=tried).rows
    assert float(ring_row[4]) > 0 == float(complete_row[4])
    assert float(complete_row[2]) == pytest.approx(float(complete_row[3]), abs=1e-3)
    assert float(complete_row[2]) < 2.3
    assert (ring_row[5], complete_row[5]) == ("18", "27")
