"""`lockstep bench plan`: what the planner was seen to reach on published steps. A change that loses some of it fails
here.

The bounds are what is reached, a little above; the goals that were set beforehand are in the table itself, also those
that are missed.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from lockstep import bench
from lockstep.bench.plan import ORDERED, judged
from lockstep.planner import cases
from lockstep.planner.scores import Scored, regret, score, tau

SCORED = score(cases.everything())
MEDIANS = {  # of the absolute errors of tokens a second: what `bench plan` prints, with a little room
    "megatron_sc21_table1": 0.03, "korthikanti_table3_5": 0.04,
    "megatron_sc21_fig11": 0.08, "megatron_sc21_fig12": 0.04,
    "megatron_sc21_fig13": 0.07, "megatron_sc21_fig14": 0.03, "megatron_sc21_fig15": 0.07, "megatron_sc21_fig16": 0.05,
    "megatron_sc21_fig17": 0.04, "megatron_sc21_fig18": 0.06, "llama3_405b_table4": 0.08, "torchtitan_llama31": 0.12,
    "torchtitan_a100_fsdp2": 0.1, "fsdp_and_zero_offload": 0.05, "megatron_lm_jan2021_and_v100": 0.09,
}  # fmt: skip


def of(table: str) -> list[Scored]:
    return [s for s in SCORED if s.case.table == table]


@pytest.mark.parametrize("table", MEDIANS)
def test_medians_by_table(table: str) -> None:
    assert of(table)
    assert median(abs(s.error) for s in of(table)) <= MEDIANS[table]


def test_all_published_steps_are_there() -> None:
    assert len(of("megatron_bridge_performance")) == 138
    assert len(SCORED) >= 330
    assert {s.case.part for s in SCORED} == {"calibration", "other releases", "held back"}


def test_what_was_held_back_is_marked() -> None:
    """A generation, a model, and every table that the issue did not allow for calibration."""
    for s in SCORED:
        if "GB300" in s.case.row or "Qwen3" in s.case.row:
            assert s.case.part == "held back"
        if s.case.part == "calibration":
            bridge = s.case.table == "megatron_bridge_performance"
            assert bridge or s.case.table in ("megatron_sc21_table1", "korthikanti_table3_5")


@pytest.mark.parametrize(("kind", "most"), [("dense", 0.08), ("mixture", 0.15)])
def test_rows_that_did_not_calibrate(kind: str, most: float) -> None:
    found = [abs(s.error) for s in SCORED if judged(s) and s.case.mixture == (kind == "mixture")]
    assert median(found) <= most


def test_the_held_back_generation_and_model() -> None:
    bridge = [s for s in of("megatron_bridge_performance") if judged(s) and s.case.part == "held back"]
    dense, mixed = ([abs(s.error) for s in bridge if s.case.mixture == kind] for kind in (False, True))
    assert median(dense) <= 0.08
    assert median(mixed) <= 0.15
    constants = [abs(s.constant_error) for s in bridge]
    assert median(abs(s.error) for s in bridge) < median(constants) / 1.5


@pytest.mark.parametrize("figure", ORDERED)
def test_the_order_of_plans(figure: str) -> None:
    names = {s.case.series for s in SCORED if s.case.series.startswith(f"{figure} ")}
    assert len(names) >= 2
    for name in names:
        series = [s for s in SCORED if s.case.series == name]
        published, predicted = [s.case.tokens_per_second for s in series], [s.predicted for s in series]
        assert tau(published, predicted)[0] >= 0.8
        assert regret(published, predicted) <= 0.03


def test_tau_counts_pairs_that_are_apart() -> None:
    assert tau([100, 104, 200], [1, 0, 2]) == (1.0, 2)
    assert tau([100, 150, 200], [3, 2, 1]) == (-1.0, 3)


def test_regret_is_what_the_chosen_plan_lacks() -> None:
    assert regret([100, 80], [1, 2]) == pytest.approx(0.2)


def test_a_constant_is_no_better_on_the_order_of_plans() -> None:
    """It promises each plan of a figure the same MFU."""
    series = [s for s in SCORED if s.case.series == "13 GBS=128"]
    assert len({round(s.constant, 6) for s in series}) == 1


def test_the_bench_prints_goals_tables_and_large_errors() -> None:
    goals, by_table, by_series, bars, memory, rows = bench.measure("plan", "quick")
    assert {row["met"] for row in goals.rows} <= {"yes", "no", "no: the constant meets it"}
    met: dict[Any, Any] = {row["goal"]: row["met"] for row in goals.rows}
    assert met["figure 11, median [%]"] == "no: the constant meets it"  # it was called met, where 6.9 % take no planner
    assert met["tau, figures 13 to 16, least"] == met["memory, torchtitan, median [%]"] == "yes"
    assert all("constant" in word for word in list(by_table.rows[0])[-2:])
    assert len(by_series.rows) == 17
    assert all(float(row["within [%]"]) >= 80 for row in bars.rows)
    assert {"zero_table1", "korthikanti_formulas", "torchtitan_llama31"} <= {row["table"] for row in memory.rows}
    assert all(abs(float(row["error [%]"])) > 25 for row in rows.rows)
    for table in (goals, by_table, by_series, bars, memory, rows):
        assert table.text()
