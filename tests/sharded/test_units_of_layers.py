"""Which layers to gather together: dynamic programming beside all choices."""

import itertools
from random import Random

import pytest

from lockstep.cost.fsdp_units import Model, best_units, choose_units, most_bytes, step_seconds
from lockstep.errors import UsageError
from lockstep.exercises.fsdp.unit_choices import units_of


def all_choices(layers):
    for cuts in itertools.product((False, True), repeat=layers - 1):
        ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), layers]
        yield list(itertools.pairwise(ends))


@pytest.mark.parametrize("seed", range(8))
def test_no_choice_that_fits_is_faster(seed):
    dice = Random(seed)
    layers = dice.randint(1, 8)
    sizes = [dice.randint(1, 10 ** dice.randint(2, 5)) for _ in range(layers)]
    seconds = [dice.uniform(0, 1e-3) for _ in range(layers)]
    model = Model.of(sizes, 0, dice.choice((1, 2, 8)), dice.choice((0.0, 1e-4, 1e-3)), 1e-9, seconds)
    model = model._replace(memory=dice.choice((1.0, 1.3, 3.0)) * most_bytes(model, [(i, i + 1) for i in range(layers)]))
    fitting = [units for units in all_choices(layers) if most_bytes(model, units) <= model.memory]
    best = best_units(model)
    assert best in fitting
    assert step_seconds(model, best) == pytest.approx(min(step_seconds(model, units) for units in fitting))


def test_a_step_by_hand():
    model = Model.of([8, 4], 10**6, 2, 1.0, 0.5, [3.0, 20.0])  # shards of 4 and 2 numbers
    first, second = 1.0 + 4 * 4 * 0.5, 1.0 + 4 * 2 * 0.5
    forward = first + max(3.0, second) + 20.0
    backward = max(2 * 20.0, first) + max(2 * 3.0, second) + first
    assert step_seconds(model, [(0, 1), (1, 2)]) == forward + backward
    assert most_bytes(model, [(0, 1), (1, 2)]) == 16 * 6 + 4 * 2 * (4 + 2)
    assert most_bytes(model, [(0, 2)]) == 16 * 6 + 4 * 2 * 6


def test_without_latency_each_layer_is_a_unit_and_without_anything_else_all_are_one():
    sizes, seconds = [100, 100, 100], [1e-3] * 3
    assert choose_units(sizes, 10**9, 4, 0.0, 1e-6, seconds) == [[0], [1], [2]]
    assert choose_units(sizes, 10**9, 4, 1.0, 0.0, [0.0] * 3) == [[0, 1, 2]]


def test_what_cannot_be():
    with pytest.raises(UsageError, match="No units fit"):
        choose_units([100, 100], 10, 4, 1.0, 1.0, [1.0, 1.0])
    with pytest.raises(UsageError, match="2 sizes and 1 seconds"):
        choose_units([100, 100], 10, 4, 1.0, 1.0, [1.0])


def test_numbers_of_layers_are_whole_numbers():
    """[[0.0], [1.0]] is equal to [[0], [1]]. It went on as slices, which raised in the check: nobody got a grade."""
    assert units_of([[0], [1]], 2) == [(0, 1), (1, 2)]
    assert units_of([[0.0], [1.0]], 2) == []
