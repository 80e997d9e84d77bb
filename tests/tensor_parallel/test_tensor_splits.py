"""place_splits beside every choice."""

from __future__ import annotations

from random import Random

import pytest

from lockstep.errors import UsageError
from lockstep.tensor_parallel.splits import all_reduces, held, place_splits, tried_all

MLP = [("mixing", 8), ("linear", 40), ("pointwise", 0), ("linear", 40)]


def drawn(seed: int) -> tuple[list[tuple[str, int]], int, int]:
    dice = Random(seed)
    kinds = dice.choices(["linear", "pointwise", "mixing"], [4, 2, 1], k=dice.randint(1, 8))
    layers = [(kind, {"linear": 12 * dice.randint(1, 9), "pointwise": 0, "mixing": 6}[kind]) for kind in kinds]
    ranks = dice.choice([2, 3, 4])
    return layers, ranks, round(dice.uniform(0.3, 1.1) * sum(n for _, n in layers))


@pytest.mark.parametrize("seed", range(60))
def test_as_few_as_of_all_choices(seed: int) -> None:
    layers, ranks, room = drawn(seed)
    best = tried_all(layers, ranks, room)
    if best is None:
        with pytest.raises(UsageError):
            place_splits(layers, ranks, room)
    else:
        splits = place_splits(layers, ranks, room)
        assert all_reduces(layers, splits) == best
        assert held(layers, splits, ranks) <= room


def test_a_block_s_mlp() -> None:
    assert place_splits(MLP, 4, 88) == ["whole"] * 4
    assert place_splits(MLP, 4, 87) == ["whole", "columns", "whole", "rows"]


def test_the_largest_pairs_first_is_not_best() -> None:
    layers = [("linear", n) for n in (60, 70, 70, 60)]
    assert place_splits(layers, 2, 130) == ["columns", "rows", "columns", "rows"]
    assert place_splits(layers, 2, 190) == ["whole", "columns", "rows", "whole"]


def test_long_chains() -> None:
    layers = [("linear", 12 + i % 7) for i in range(300)]
    splits = place_splits(layers, 8, sum(n for _, n in layers) // 4)
    assert 0 < all_reduces(layers, splits) <= 300


@pytest.mark.parametrize(
    "splits",
    [
        ["whole", "columns", "whole", "whole"],
        ["whole", "rows", "whole", "whole"],
        ["whole", "columns", "whole", "columns"],
        ["columns", "columns", "whole", "rows"],
    ],
)
def test_splits_that_cannot_be(splits: list[str]) -> None:
    with pytest.raises(UsageError):
        all_reduces(MLP, splits)
