"""The planner's step beside the simulated one, item by item."""

from __future__ import annotations

import pytest

from lockstep.errors import UsageError
from lockstep.hybrid import GPTSize, Grid, simulate_step
from lockstep.hybrid.beside_planner import NAMES, Item, items, planned, told
from lockstep.hybrid.published_steps import MACHINE

SMALL, GRID = GPTSize(8, 4096, 32), Grid(tp=8, pp=2, recompute="full")


def test_items_add_up_and_two_models_of_one_step_agree() -> None:
    step, found = simulate_step(SMALL, GRID, 1, 8, on=MACHINE), planned(SMALL, GRID, 1, 8)
    rows = items(found, step)
    assert [row.name for row in rows] == list(NAMES)
    assert sum(row.planned for row in rows) == pytest.approx(found.step_time)
    assert sum(row.simulated for row in rows) == pytest.approx(step.time)
    assert found.step_time == pytest.approx(step.time, rel=0.25)
    assert {row.name: row.planned for row in rows if row.name in ("cp", "dp")} == {"cp": 0.0, "dp": 0.0}


def test_the_item_in_which_they_disagree_is_named() -> None:
    """Recomputation is left out on one side, then the pipeline's messages are."""
    step = simulate_step(SMALL, GRID, 1, 8, on=MACHINE)
    without = planned(SMALL, Grid(tp=8, pp=2), 1, 8)
    assert "differ most in computing" in told(items(without, step))
    rows = [Item(name, 1.0, 1.0 + 0.5 * (name == "pp")) for name in NAMES]
    assert told(rows) == ("Planned 7.00 s, simulated 7.50 s. They differ most in pipeline messages: 1.00 and 1.50 s.")


def test_unknown_software_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="There is no software 'megatron-1999'"):
        planned(SMALL, GRID, 1, 8, "megatron-1999")
