"""The sweeps that lessons print: what travels is counted, and what it costs in loss goes the way that is told."""

from __future__ import annotations

from functools import cache

import pytest

from lockstep import show
from lockstep.errors import UsageError
from lockstep.events import Event
from lockstep.experiments.without_waiting import fewer_bytes, generalisation
from lockstep.experiments.without_waiting.fewer_bytes import PERIODS, STEPS, Trained, sent

EVEN, BY_CLASS = fewer_bytes.ALPHAS


@cache
def by_period() -> list[Trained]:
    return fewer_bytes.local_sgd_sweep()


def losses(data: str) -> list[float]:
    return [row.loss for row in by_period() if row.data == data]


@pytest.mark.slow
def test_local_sgd_sends_so_many_times_less_as_its_period_is_long() -> None:
    rows = [row for row in by_period() if row.data == EVEN]
    assert [row.collectives for row in rows] == [STEPS // period for period in PERIODS]
    assert [rows[0].nbytes / row.nbytes for row in rows] == list(PERIODS)
    assert rows[-1].nbytes == 2 * 3 / 4 * 5200


@pytest.mark.slow
def test_on_even_data_it_costs_nothing_and_on_data_by_class_a_long_period_costs_loss() -> None:
    assert max(losses(EVEN)) - min(losses(EVEN)) < 0.02
    assert losses(BY_CLASS) == sorted(losses(BY_CLASS))
    assert losses(BY_CLASS)[-1] > 2 * losses(BY_CLASS)[0]


def test_the_table_and_the_chart_have_every_period() -> None:
    table = fewer_bytes.local_sgd_table(by_period())
    assert [row[0] for row in table.rows] == [str(period) for period in PERIODS]
    chart = show.loss_by_bytes(by_period())
    for row in by_period():
        told = f"period {row.method}, {row.data}: {row.nbytes:,.0f} bytes, loss {row.loss:.3g}"
        assert f'aria-label="{told}"' in chart.svg()
    assert f"{losses(BY_CLASS)[-1]:.3g} after 7,800 bytes (period 64)" in chart.caption()


def test_a_chart_of_nothing_is_refused() -> None:
    for rows in ([], [Trained(EVEN, "1", 0, 0.0, 1.0, 9.0)]):
        with pytest.raises(UsageError, match="rows in which something was sent"):
            show.loss_by_bytes(rows)


@pytest.mark.slow
def test_without_error_feedback_what_is_cut_off_is_missed() -> None:
    rows = fewer_bytes.compression_sweep()
    (whole, _), (half, half_without), (top, top_without), (low, low_without) = rows
    assert [whole.nbytes / row.nbytes for row in (half, low)] == [4, pytest.approx(650 / 75)]
    assert top.nbytes == STEPS * 3 * 7 * 16
    assert half.loss == pytest.approx(whole.loss, abs=1e-3)
    assert half_without.loss == pytest.approx(whole.loss, abs=1e-3)
    assert max(top.loss, low.loss) < 1.1 * whole.loss
    assert min(top_without.loss, low_without.loss) > 2 * whole.loss
    table = fewer_bytes.compression_table(rows)
    assert [row[2] for row in table.rows] == ["1", "4", "23.2", "8.67"]
    assert "a quarter of float64, and half of float32" in table.caption


def test_what_a_rank_sends_in_a_ring() -> None:
    assert sent(Event(0, "all_reduce", 0.0, 1.0, nbytes=800), 4) == 1200  # 2·3 chunks of a quarter
    assert sent(Event(0, "all_gather", 0.0, 1.0, nbytes=800), 4) == 600  # its own 200 bytes, to three others


def test_each_published_number_names_its_source() -> None:
    rows = fewer_bytes.published_compression().rows
    assert all("arXiv:1712.01887" in row[-1] or "synxlin/deep-gradient-compression" in row[-1] for row in rows)
    sources = [row[-1] for row in generalisation.published_post_local().rows]
    assert ["arXiv:1805.09767" in sources[0], "arXiv:1808.07217" in sources[1]] == [True, True]
    assert fewer_bytes.published_speedup().rows[0] == ["VGG-16", "9.6", "13.8", "41.3"]
