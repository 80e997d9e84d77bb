"""What lesson 06 says of DiLoCo beside local SGD and an all-reduce in each step."""

from __future__ import annotations

import pytest

from lockstep.experiments.without_waiting import outer_optimizer
from lockstep.experiments.without_waiting.outer_optimizer import WAYS, WITH_ADAMW, Way
from lockstep.tables import Table

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "way", [*WAYS.values(), *WITH_ADAMW.values()], ids=[*WAYS, *(f"{n}, AdamW" for n in WITH_ADAMW)]
)
def test_each_way_trains_at_its_best_rate_which_is_not_at_an_end_of_those_tried(way: Way) -> None:
    assert outer_optimizer.tuned(way) == way.best
    assert min(outer_optimizer.RATES) < way.best < max(outer_optimizer.RATES)


def column(table: Table, head: str) -> dict[str, float]:
    at = table.head.index(head)
    return {row[0]: float(row[at].split()[0].replace(",", "")) for row in table.rows}


def test_the_outer_optimizer_costs_no_byte_and_gains_at_equal_rates_more_than_at_the_best_ones() -> None:
    table = outer_optimizer.outer_table()
    nbytes = column(table, "a rank sends")
    plain, best = column(table, "loss, rate 0.5"), column(table, "loss, its best rate")
    each, momentum = list(WAYS)[:2]
    assert plain["DiLoCo, period 8"] < plain[each], "the comparison that is not fair"
    assert best[momentum] < best[each] < best["DiLoCo, period 8"], "an all-reduce in each step is better"
    for period in (8, 64):
        ours, theirs = f"DiLoCo, period {period}", f"local SGD, period {period}"
        assert nbytes[ours] == nbytes[theirs] < nbytes[each] / (period - 1)
        assert plain[ours] < plain[theirs]
        assert best[ours] < best[theirs]


def test_with_adamw_it_helps_as_well_most_with_short_rounds() -> None:
    best = column(outer_optimizer.adamw_table(), "loss, its best rate")
    gained = {n: best[f"mean of the models, period {n}"] / best[f"DiLoCo, period {n}"] for n in (8, 64)}
    assert 1 < gained[64] < gained[8]
