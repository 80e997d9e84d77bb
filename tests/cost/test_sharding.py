"""The formulas of sharding: by hand, against ZeRO's Table 1, and against the FSDP paper's bytes."""

import csv
from importlib.resources import files

import pytest

from lockstep.cost.sharding import (
    ADAM,
    MIXED,
    STAGES,
    States,
    booked,
    bytes_a_parameter,
    bytes_of,
    hybrid,
    model_states,
    peak_gathered,
    published_across,
    sent,
    shard_lengths,
)
from lockstep.cost.training import RECIPES, training_memory
from lockstep.errors import UsageError
from lockstep.events import Count


def test_states_by_hand() -> None:
    """5 + 7 numbers on 4 ranks: 2 + 2 each."""
    assert shard_lengths([5, 7], 4) == [2, 2]
    assert [model_states([5, 7], 4, stage) for stage in STAGES] == [
        States(48, 48, 96), States(64, 64, 32), States(64, 16, 32), States(16, 16, 32),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("recipe", "each"),
    [("adam fp32", (4, 4, 8)), ("adam mixed", (2, 2, 12)), ("momentum fp32", (4, 4, 4)), ("inference bf16", (2, 0, 0))],
)
def test_recipes(recipe: str, each: tuple[int, int, int]) -> None:
    assert bytes_of(RECIPES[recipe]) == each
    assert model_states(10, 1, 0, RECIPES[recipe]).total == training_memory(10, RECIPES[recipe])


@pytest.mark.parametrize("stage", STAGES)
def test_one_rank_keeps_all_and_sends_nothing(stage: int) -> None:
    assert model_states([5, 7], 1, stage) == States(48, 48, 96)
    assert sent([5, 7], 1, stage) == 0


def test_each_stage_keeps_less() -> None:
    totals = [model_states([99, 33], 3, stage, MIXED).total for stage in STAGES]
    assert totals == sorted(totals, reverse=True)
    assert len(set(totals)) == 4


def test_sharding_sends_half_as_much_again_and_no_less() -> None:
    """The notes: "Reduces sync time"."""
    assert [sent(1200, 4, stage) / sent(1200, 4, 0) for stage in STAGES] == [1, 1, 1, 1.5]
    assert sent([600, 600], 4, 3, kept=1) / sent(1200, 4, 0) == 1.25


def test_a_trace_books_the_larger_of_in_and_out() -> None:
    assert booked([5, 7], 4, 0) == {"all_reduce": Count(2, 48)}
    assert booked([5, 7], 4, 2) == {"all_gather": Count(2, 64), "reduce_scatter": Count(2, 64)}
    assert booked([5, 7], 4, 3) == {"all_gather": Count(4, 128), "reduce_scatter": Count(2, 64)}
    assert booked([5, 7], 4, 3, kept=1) == {"all_gather": Count(3, 96), "reduce_scatter": Count(2, 64)}
    assert booked([5, 7], 4, 3, recipe=MIXED) == {"all_gather": Count(4, 64), "reduce_scatter": Count(2, 32)}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_what_is_booked_is_what_is_sent(stage: int, ranks: int) -> None:
    rounds = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1}
    counted = sum(rounds[kind] * count.nbytes for kind, count in booked([5, 7, 30], ranks, stage, kept=1).items())
    assert counted / 4 * (ranks - 1) / ranks == pytest.approx(sent([5, 7, 30], ranks, stage, kept=1))


def test_one_unit_is_gathered_whole() -> None:
    """The notes' sample has no wrap policy."""
    assert peak_gathered(1000, 4) == 4000
    assert peak_gathered([250] * 4, 4) == 1000 + 8  # 250 numbers in 4 shards of 63
    assert peak_gathered([250] * 4, 4, at_once=2) == 2016
    assert peak_gathered([100, 300, 200], 4, at_once=2) == 2000
    assert peak_gathered([100, 300], 4, at_once=5) == 1600


def test_zero_s_table_1() -> None:
    """All 54 cells, as far as they are printed: the large ones are cut, so that 4046.875 became 4046."""
    text = files("lockstep").joinpath("experiments/fsdp", "data", "zero_table1_memory.csv").read_text()
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert len(rows) == 18
    for row in rows:
        numbers = {"7.5B": 7.5e9, "128B": 128e9, "1T": 1e12}[row["model"]]
        for stage, name in enumerate(("Pos", "Pos_g", "Pos_g_p"), start=1):
            value = numbers * bytes_a_parameter(stage, int(row["Nd"])) / 1e9
            assert value == pytest.approx(float(row[f"{name}_GB"]), abs=0.9 if value > 100 else 0.051)
            assert value == pytest.approx(
                model_states(int(numbers), int(row["Nd"]), stage, MIXED).total / 1e9, rel=1e-6
            )


def test_hybrid_keeps_the_gathers_inside() -> None:
    """Of 16 ranks on 2 nodes of 8: across, an eighth of the gradients goes there and back once."""
    assert hybrid(800.0, 16, 8) == (2100.0, 100.0)
    assert hybrid(800.0, 8, 8).across == 0
    assert hybrid(800.0, 4, 1) == (0, 1200.0)
    paper = published_across(800.0, 16, 8)
    assert paper == {"full replication": 1500.0, "full sharding": 2250.0, "hybrid sharding": 187.5}
    many = 8 * 10_000
    assert hybrid(800.0, many, 8).across == pytest.approx(published_across(800.0, many, 8)["hybrid sharding"], rel=1e-3)


def test_questions_without_sense_are_refused() -> None:
    for ask in (
        lambda: model_states(10, 2, 4), lambda: sent(10, 2, -1), lambda: booked(10, 2, 5), lambda: shard_lengths([], 2),
        lambda: peak_gathered([3], 0), lambda: hybrid(8.0, 6, 4), lambda: model_states([-1], 2, 0),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            ask()


def test_the_default_is_adam_in_float32() -> None:
    assert bytes_of(ADAM).total == 16
