"""What zero-bubble schedules leave of the bubble: the numbers of lesson 09, and torch's schedules at work."""

from __future__ import annotations

import pytest

from lockstep.experiments.pipeline import zero_bubbles
from lockstep.experiments.pipeline.zero_bubbles import TORCHS, UNEQUAL, left
from lockstep.pipeline.schedule_costs import bubble, peak_activations
from lockstep.pipeline.schedules import streams


def test_zb_h1_leaves_a_bubble() -> None:
    found = {(name, m): left(name, 8, m) for name in ("1F1B", "ZB-H1") for m in (8, 16)}
    told = {key: round(100 * row.bubble, 1) for key, row in found.items() if row}
    assert told == {("1F1B", 8): 46.7, ("1F1B", 16): 30.4, ("ZB-H1", 8): 22.6, ("ZB-H1", 16): 12.7}


def test_torchs_interleaved_order_is_counted_as_ours() -> None:
    """An independent path to a number: torch's Interleaved1F1B beside our schedule of the same name."""
    orders = zero_bubbles.order("Interleaved1F1B", 4, 8)
    spans = zero_bubbles.timed(orders, (1.0, 1.0, 1.0))
    ours = streams("interleaved", 4, 8, 2)
    assert zero_bubbles.idle(spans, 4)[0] == pytest.approx(bubble(ours))
    assert [zero_bubbles.most_kept(rank) for rank in orders] == list(map(peak_activations, ours))


@pytest.mark.parametrize("name", TORCHS)
def test_only_zbv_has_a_zero_and_only_in_its_own_time_with_equal_passes(name: str) -> None:
    equal, unequal = left(name, 8, 16), left(name, 8, 16, UNEQUAL)
    assert equal is not None
    assert unequal is not None
    assert equal.bubble == pytest.approx(7 / 103)
    assert (equal.own < 1e-9) == (name == "ZBVZeroBubble")
    assert unequal.own > 0.01
    assert equal.kept >= 8


def test_dualpipev_needs_two_micro_batches_for_each_rank() -> None:
    assert left("DualPipeV", 8, 15) is None
    assert [row[1] == "–" for row in zero_bubbles.left_table().rows] == [False] * 4 + [True]


@pytest.mark.slow
def test_torchs_schedules_run_as_they_are() -> None:
    idle = {row[0]: float(row[2].rstrip("%")) for row in zero_bubbles.runs_table(2, 4).rows}
    assert max(idle[name] for name in TORCHS) < idle["1F1B"]
