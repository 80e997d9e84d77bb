"""The program whose steps are simulated trains: the second one's gradients, and the weights after it, are those of one
rank.

That a step on tape equals the step in full does not say so: a sum that is left out is left out in both."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.experiments.hybrid.equality import MODEL, STEPS, Way, apart, serial, trained, whole
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.worker import GridWorker, groups_of

MICRO_BATCHES = 4
WAYS = {
    "nothing": {},
    "all layers recomputed": {"recompute": "full"},
    "sequence, attention recomputed": {"recompute": "selective", "sequence_parallel": True},
    "ZeRO": {"zero": 1},
    "overlap": {"overlap": True},
    "ZeRO 2": {"zero": 2, "sequence_parallel": True},
    "ZeRO 3": {"zero": 3},
    "ZeRO 3, overlap": {"zero": 3, "sequence_parallel": True, "recompute": "selective", "overlap": True},
    "ZeRO 3, all layers recomputed": {"zero": 3, "recompute": "full", "overlap": True},
    "all": {"recompute": "full", "sequence_parallel": True, "zero": 1, "overlap": True},
}
GRIDS = {"tp 2": (Grid(tp=2), 1), "tp, pp": (Grid(tp=2, pp=2), 1), "tp, pp, dp, v 2": (Grid(dp=2, tp=2, pp=2), 2),
         "tp 4, pp, v 2": (Grid(tp=4, pp=2), 2), "tp, cp, pp, v 2": (Grid(tp=2, cp=2, pp=2), 2),
         "cp, dp, pp": (Grid(cp=2, dp=2, pp=2), 1)}  # fmt: skip


def assert_trains(grid: Grid, chunks: int, schedule: str = "interleaved") -> None:
    values = run(
        trained, MODEL, grid, chunks, schedule, STEPS, MICRO_BATCHES, ranks=grid.ranks, on="dgx-a100", timeout=600
    ).values
    found, (wanted, loss) = whole(values, MODEL, grid), serial(MODEL, grid, STEPS, MICRO_BATCHES)
    assert found.keys() == wanted.keys()
    for name, (weight, gradient) in wanted.items():
        assert (found[name][0] - weight).abs().max() < 1e-12, name
        assert (found[name][1] - gradient).abs().max() < 1e-12 * gradient.abs().max(), name
    told = sum(value[3] for value in values if value[3] is not None) / grid.tp
    assert told == pytest.approx(loss, rel=1e-12)


def test_after_two_steps_nothing_is_apart():
    found = apart(Way(Grid(tp=2, pp=2, micro_batch=2, sequence_parallel=True)))
    assert (found.ranks, found.parameters) == (4, 53)
    assert found.gradients < 1e-12
    assert found.weights < 1e-12


def test_two_stages_of_two_ranks_train():
    assert_trains(Grid(tp=2, pp=2, micro_batch=2, **WAYS["sequence, attention recomputed"]), 1)


def test_two_ranks_whose_weights_are_sharded_train():
    assert_trains(Grid(dp=2, micro_batch=2, zero=3, overlap=True), 1)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("grid", GRIDS)
def test_every_way_on_every_grid_trains(way: str, grid: str):
    axes, chunks = GRIDS[grid]
    assert_trains(replace(axes, micro_batch=2, **WAYS[way]), chunks)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["gpipe", "gpipe, re-materialised", "zb_h1"])
def test_other_schedules_train(schedule: str):
    assert_trains(Grid(tp=2, pp=2), 1, schedule)


def gradients(model: GPTSize, grid: Grid):
    return [pair[1] for pair in trained(model, grid, 1, micro_batches=MICRO_BATCHES)[2].values()]


@pytest.mark.slow
@pytest.mark.parametrize("sequence", [False, True])
def test_what_is_recomputed_drops_the_same_numbers(sequence: bool):
    """With dropout a recomputation that draws anew has other gradients."""
    model, grid = replace(MODEL, dropout=0.3), Grid(tp=2, sequence_parallel=sequence)
    ways = [replace(grid, recompute=how) for how in ("none", "selective", "full")]
    none, *others = (run(gradients, model, way, ranks=2, on="dgx-a100").values for way in ways)
    for other in others:
        for a, b in zip(none, other, strict=True):
            assert all(torch.allclose(x, y, rtol=1e-9, atol=1e-14) for x, y in zip(a, b, strict=True))


def ends(model: GPTSize, grid: Grid):
    """A dropped activation, on each rank of a tensor group."""
    worker = GridWorker(model, grid, 1, groups_of(grid))
    return dist.get_rank(), worker.chunks[0].drop(torch.ones(1, 8, 16, dtype=torch.float64))


@pytest.mark.slow
def test_dropout_is_alike_where_ranks_compute_alike():
    model = replace(MODEL, dropout=0.5)
    alike, parts = (
        [x for _, x in run(ends, model, Grid(tp=2, sequence_parallel=s), ranks=2, on="dgx-a100").values]
        for s in (False, True)
    )
    assert torch.equal(alike[0], alike[1])
    assert not torch.equal(parts[0], parts[1])
