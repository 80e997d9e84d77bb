"""parallelize_module on the same GPT: the same gradients, the same bytes; and a training in each way."""

from __future__ import annotations

import pytest

from lockstep.cost.tensor_parallel import booked, sent
from lockstep.experiments.tensor_parallel import trainings
from lockstep.experiments.tensor_parallel.compared_with_torch import (
    EXAMPLES,
    METHODS,
    SIZES,
    beside,
    beside_torch_table,
)
from lockstep.experiments.tensor_parallel.trainings import WAYS, training, trainings_table

ROUNDING = 1e-14
SLOW = pytest.mark.slow
T, h, L = SIZES["context"], SIZES["width"], SIZES["layers"]
MODEL = (EXAMPLES, T, h, L, T)


PLAIN, SEQUENCE = list(METHODS)[:2], list(METHODS)[2:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("K", "on"), [(2, "dgx-a100"), pytest.param(4, "dgx-a100", marks=SLOW), pytest.param(2, "processes", marks=SLOW)]
)
def test_gradients_bytes_and_memory_are_torchs(K: int, on: str) -> None:
    ours, theirs = (beside(name, K, on) for name in PLAIN)
    assert max(ours.difference, theirs.difference) <= ROUNDING
    assert ours.sent == theirs.sent
    assert ours.sent["all_reduce"] == booked(*MODEL, e=8)["all_reduce"]
    assert ours.activations == pytest.approx(theirs.activations, rel=0.03)


@SLOW
@pytest.mark.parametrize("K", [2, 4])
def test_in_parts_of_the_sequence_too(K: int) -> None:
    """torch's embedding is all-reduced, and its norms' gradients stay summands until the optimizer needs them."""
    ours, theirs = (beside(name, K, "dgx-a100") for name in SEQUENCE)
    assert max(ours.difference, theirs.difference) <= ROUNDING
    assert ours.sent == booked(*MODEL, "sequence, kept", e=8)
    assert ours.sent["all_gather"] == theirs.sent["all_gather"]
    assert ours.sent["reduce_scatter"].number == theirs.sent["reduce_scatter"].number + 1
    assert ours.activations == pytest.approx(theirs.activations, rel=0.03)


@pytest.mark.slow
def test_all_ways_train_the_same_model() -> None:
    alone, parallel = training("one rank", 1), training("tensor parallel")
    assert parallel.losses == pytest.approx(alone.losses, abs=1e-5)
    assert alone.losses[0] > alone.losses[-1]
    assert parallel.memory.peaks["optimizer state"] < alone.memory.peaks["optimizer state"] / 3


@SLOW
def test_all_other_ways_do_so_too() -> None:
    alone = training("one rank", 1)
    for way in WAYS:
        assert training(way).losses == pytest.approx(alone.losses, abs=1e-5), way
    plain, sequence, kept = (
        training(f"{way}") for way in ("tensor parallel", "sequence parallel", "sequence parallel, gathered once")
    )
    assert sequence.memory.peaks["activations"] < kept.memory.peaks["activations"] < plain.memory.peaks["activations"]
    assert plain.port < kept.port < 1.05 * plain.port
    assert plain.port > trainings.SIZES["layers"] * 4 * sent(8, 16, 64, 4)
    assert len(trainings_table().rows) == len(WAYS) + 1


@SLOW
def test_the_table_names_both() -> None:
    assert [row[0] for row in beside_torch_table(2).rows] == list(METHODS)
