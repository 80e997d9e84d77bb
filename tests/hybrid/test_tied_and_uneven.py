"""A tied embedding, and sizes that do not divide: gradients after two steps are those of one rank, wherever it runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch.distributed as dist

from lockstep import run
from lockstep.errors import UsageError
from lockstep.experiments.hybrid.equality import (
    CUBE,
    EVERYWHERE,
    MODELS,
    TIED,
    UNEVEN,
    Way,
    apart,
    distance,
    serial,
    whole,
    whole_gradients,
)
from lockstep.hybrid.executed_step import training_step
from lockstep.hybrid.grid import GPTSize, Grid, check, layers_of_chunks
from lockstep.hybrid.worker import GridWorker, groups_of
from lockstep.pipeline.schedules import stream

CELLS = [(mesh, way) for mesh, some in EVERYWHERE.items() for way in some]
NAMES = [f"{mesh}, {way.model}" for mesh, way in CELLS]
FEW = Way(Grid(tp=2, pp=2, micro_batch=2), 1, "uneven, tied")


def assert_equal(way: Way, on: str) -> None:
    found = apart(way, on)
    assert found.gradients < 1e-13
    assert found.weights < 1e-11


def test_nothing_is_apart_where_nothing_divides():
    assert_equal(FEW, "dgx-a100")


def test_nothing_is_apart_on_processes():
    assert_equal(FEW, "processes")


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize("way", [way for _, way in CELLS], ids=NAMES)
def test_nothing_is_apart_anywhere(way: Way, on: str):
    assert_equal(way, on)


def without_the_sum(model: GPTSize, grid: Grid):
    """On a rank: a step in which the two stages do not add up the gradients of their embedding."""
    worker = GridWorker(model, grid, 1, groups_of(grid))
    for state in worker.states:
        state.elsewhere = []
    worker.train(stream("interleaved", worker.stage, grid.pp, 2), 2)
    gradients = {k: v for state in worker.states for k, v in whole_gradients(state).items()}
    own = {name: gradients[id(p)].clone() for name, p in worker.chunks[0].named_parameters() if "blocks" not in name}
    return worker.tensor, worker.replica, {name: (own[name], own[name]) for name in own}, None


def test_without_the_sum_the_two_embeddings_have_other_gradients():
    """Each stage has a summand only; that is why the sum is made, and why the comparison would see it missing."""
    grid = Grid(tp=2, pp=2)
    found = whole(run(without_the_sum, TIED, grid, ranks=4, on="dgx-a100").values, TIED, grid)
    wanted = serial(TIED, grid)[0]
    first, last = (found[name][1] for name in ("token.weight", "scores.weight"))
    assert distance(first, wanted["token.weight"][1]) > 1e-3
    assert distance(first + last, wanted["token.weight"][1]) < 1e-12
    assert distance(found["norm.weight"][1], wanted["norm.weight"][1]) < 1e-12


def test_the_embeddings_group_is_the_first_and_the_last_stage():
    grid = Grid(dp=2, tp=2, pp=3)
    assert grid.group("embedding", 1) == (1, 9)
    assert grid.group("embedding", 5) == (5,)
    assert grid.group("embedding", 10) == (2, 10)
    assert Grid(dp=2).group("embedding", 1) == (1,)


def test_layers_that_do_not_divide_are_cut_as_evenly_as_possible_or_as_the_layout_says():
    assert layers_of_chunks(UNEVEN, Grid(pp=2), 2) == [3, 2]
    assert layers_of_chunks(UNEVEN, Grid(pp=2), 4) == [2, 1, 1, 1]
    assert layers_of_chunks(UNEVEN, Grid(pp=2, layout=(1, 4)), 2) == [1, 4]


@pytest.mark.parametrize(
    ("model", "grid", "told"),
    [
        (UNEVEN, Grid(tp=2, sequence_parallel=True), "cp times tp .of sequence_parallel. = 2 does not divide seq = 7"),
        (UNEVEN, Grid(tp=4), "tp = 4 is more than heads = 3"),
        (UNEVEN, Grid(cp=8), "cp = 8 is more than seq = 7"),
        (UNEVEN, Grid(pp=6), "pp times chunks = 6 is more than layers = 5"),
        (MODELS["mixture"], Grid(dp=3, ep=3), "ep = 3 does not divide experts = 4"),
    ],
)
def test_what_cannot_be_cut_at_all_is_refused(model: GPTSize, grid: Grid, told: str):
    with pytest.raises(UsageError, match=told):
        check(model, grid, 1, 2, alike=False)


def rounds(model: GPTSize, grid: Grid):
    return training_step(model, grid, micro_batches=2, fake=False).loss, dist.get_rank()


def test_a_step_in_full_takes_sizes_that_do_not_divide():
    model = replace(UNEVEN, dropout=0.1)
    losses = [loss for loss, _ in run(rounds, model, replace(CUBE, cp=1), ranks=8, on="dgx-a100").values]
    assert [loss is None for loss in losses] == [True] * 4 + [False] * 4
