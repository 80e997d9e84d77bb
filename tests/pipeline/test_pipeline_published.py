"""GPipe's tables beside the formulas: how far off they are is part of the claim."""

from __future__ import annotations

from lockstep.experiments.pipeline.published import (
    Prediction,
    largest_model_table,
    largest_models,
    throughput_table,
    throughputs,
    torchgpipes,
)


def errors(rows: list[Prediction]) -> list[float]:
    return [row.error for row in rows]


def test_transformers_with_many_micro_batches_are_as_fast_as_the_bubble_says() -> None:
    rows = [row for row in throughputs() if row.model.startswith("Transformer") and row.M == 32]
    assert len(rows) == 6
    assert all(0 <= error < 0.085 for error in errors(rows))
    assert [round(row.predicted, 2) for row in rows[:3]] == [1.94, 3.66, 6.56]


def test_unequal_layers_are_slower_than_the_bubble_says() -> None:
    rows = [row for row in throughputs() if row.model.startswith("Amoeba") and row.M == 32]
    assert all(error >= 0 for error in errors(rows))
    assert 0.98 < max(errors(rows)) < 1.0
    assert 0.3 < max(errors(torchgpipes())) < 0.4


def test_few_micro_batches_were_faster_since_batches_differ() -> None:
    rows = [row for row in throughputs() if row.M == 1 or (row.M == 4 and row.model.startswith("Transformer"))]
    assert all(error <= 0 for error in errors(rows))
    assert 1 / (1 + min(errors(rows))) - 1 < 0.655
    assert [row.published for row in torchgpipes() if row.M == 1] == [1, 1.004, 0.932]


def test_the_largest_transformer_follows_from_one_accelerator() -> None:
    transformers = [row for row in largest_models() if row.model.startswith("Transformer")]
    assert [row.K for row in transformers] == [8, 32, 128]
    assert all(abs(error) < 0.015 for error in errors(transformers))
    assert all(0.1 < error < 0.42 for error in errors(largest_models()[:3]))  # AmoebaNet


def test_tables_tell_the_error() -> None:
    assert "+99%" in repr(throughput_table())
    assert "Transformer-1663" in repr(largest_model_table())
