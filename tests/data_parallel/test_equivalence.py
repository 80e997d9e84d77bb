"""K ranks and one: the same to the bit while float64 holds every number, to rounding afterwards, and batch norm not."""

from functools import cache

import pytest

from lockstep.experiments.all_reduce_sgd import equivalence
from lockstep.experiments.all_reduce_sgd.equivalence import FLOAT64_BITS, RANKS, SYNC, TRAININGS, Bits, Equality

ROUNDING = 1e-13
all_rows = cache(equivalence.equality)


def rows(model: str) -> list[Equality]:
    return [row for row in all_rows() if row.training.model == model]


@pytest.mark.slow
def test_every_training_is_tried_on_every_number_of_ranks() -> None:
    assert [(row.training, row.ranks) for row in all_rows()] == [(t, K) for t in TRAININGS for K in RANKS]
    assert {t.method for t in TRAININGS} == {"SGD", "momentum", "Adam"}
    assert all(any(t.batch % K for t in TRAININGS if t.method == method) for method in ("SGD", "Adam") for K in (2, 8))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", ["MLP", "tied weights", SYNC])
def test_parameters_are_equal_up_to_rounding(model: str) -> None:
    assert len(rows(model)) >= 2 * len(RANKS)
    assert all(row.difference < ROUNDING for row in rows(model))


@pytest.mark.slow
def test_batch_norm_on_parts_of_a_batch_is_something_else() -> None:
    alone, *several = rows("batch norm")
    assert alone.difference < ROUNDING
    assert all(row.difference > 0.01 for row in several)


def test_the_table_has_a_row_for_each_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "equality", all_rows)
    table = equivalence.equality_table()
    alike, *apart = table.rows
    told = {tuple(row[:3]) for row in [*apart, *table.behind]}
    assert told == {(t.method, t.model, str(t.batch)) for t in TRAININGS}
    assert alike[0] == f"{len(table.behind)} trainings"
    assert table.behind[0][3] == "to the bit"


@cache
def on_dyadic_data(method: str, ranks: int) -> list[Bits]:
    return equivalence.bits(steps=8, ranks=ranks, method=method)


@pytest.mark.parametrize("ranks", [2, 8])
def test_sgd_is_equal_to_the_bit_while_mantissas_suffice(ranks: int) -> None:
    found = on_dyadic_data("SGD", ranks)
    enough = [row for row in found if row.needed <= FLOAT64_BITS]
    assert [row.step for row in enough] == [1, 2, 3, 4, 5]
    assert all(row.difference == 0.0 for row in enough)
    assert 0.0 < found[-1].difference < ROUNDING


def test_adam_is_equal_to_the_bit_in_its_first_step_only() -> None:
    first, *later = on_dyadic_data("Adam", 4)
    assert first.difference == 0.0
    assert 0.0 < max(row.difference for row in later) < ROUNDING


def test_the_first_step_apart() -> None:
    assert equivalence.first_step_apart(ranks=4, steps=8) > 5
    assert equivalence.first_step_apart(ranks=1, steps=4) == 0
