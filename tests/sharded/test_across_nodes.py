"""Hybrid sharding keeps the gathers within a node: by formula, by the paper, and by traces."""

import pytest

from lockstep.cost.sharding import hybrid, published_across
from lockstep.experiments.fsdp.across_nodes import SCHEMES, G, M, W, across_table, counted


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_trace_sends_what_the_formula_says(scheme: str) -> None:
    ours = hybrid(M, W, G)
    expected = (ours.across, ours.within) if scheme == SCHEMES[2] else (published_across(M, W, G)[scheme], 0)
    assert counted(scheme) == expected


@pytest.mark.slow
def test_the_paper_s_hybrid_is_a_little_more() -> None:
    rows = across_table().rows
    assert [row[1:] for row in rows] == [
        ["1.75 M", "1.75 M", "0 M"], ["2.625 M", "2.625 M", "0 M"], ["0.875 M", "0.75 M", "1.5 M"],
    ]  # fmt: skip
