"""Lesson 08's lines at work, the notes' sample by wrapping, and what its tables say of a GPT under each method."""

from __future__ import annotations

import pytest
import torch

from lockstep.cost.sharding import booked, sent
from lockstep.errors import UsageError
from lockstep.experiments.fsdp import by_dtype, trainings, wrapping, your_line
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.sharded.layers import dense

ORDER = [*range(your_line.LAYERS), *reversed(range(your_line.LAYERS - 1))]


def alone() -> list[torch.Tensor]:
    """The gradients of the whole batch on one rank, layer by layer, each in one vector."""
    layers = dense([your_line.WIDTH] * (your_line.LAYERS + 1))
    flats = [layer.start().requires_grad_() for layer in layers]
    x, y = (torch.cat(part) for part in zip(*map(your_line.rows_of, range(your_line.RANKS)), strict=True))
    for layer, flat in zip(layers, flats, strict=True):
        x = layer(flat, x)
    return list(torch.autograd.grad(torch.nn.functional.mse_loss(x, y), flats))


@pytest.mark.slow
def test_a_step_in_the_right_order_gives_the_mean_gradient() -> None:
    done = your_line.ordered(lambda layers: ORDER)
    for found, expected in zip(zip(*done.values, strict=True), alone(), strict=True):
        assert torch.allclose(torch.cat(found)[: len(expected)], expected, atol=1e-6)


def test_through_a_port_goes_what_the_formula_says() -> None:
    done = your_line.ordered(lambda layers: ORDER)
    sizes = [layer.numel for layer in dense([your_line.WIDTH] * (your_line.LAYERS + 1))]
    assert through_a_port(done.trace) == pytest.approx(4 * sent(sizes, your_line.RANKS, stage=3, kept=1))
    told = booked(sizes, your_line.RANKS, stage=3, kept=1)
    assert {kind: done.trace.counts()[0, kind] for kind in told} == told


@pytest.mark.parametrize("order", [ORDER[:-1], [*range(your_line.LAYERS)] * 2])
def test_another_order_is_told_and_does_not_hang(order: list[int]) -> None:
    with pytest.raises(Exception, match="is needed, and your order"):
        your_line.ordered(lambda layers: order)
    with pytest.raises(UsageError):
        your_line.check_next(None, 0)


@pytest.mark.slow
def test_what_is_fetched_ahead_is_whole_as_the_line_says() -> None:
    table = your_line.ahead_table(lambda sizes, ahead: max(sum(sizes[i : i + ahead + 1]) for i in range(len(sizes))))
    assert [row[1] for row in table.rows] == [row[2] for row in table.rows]
    seconds = [float(row[3]) for row in table.rows]
    assert seconds == sorted(seconds, reverse=True)


def test_the_notes_sample_as_printed_gathers_the_whole_model_once() -> None:
    printed = wrapping.held(wrapping.Transformer, wrapping.fsdp)
    numbers = sum(p.numel() for p in wrapping.Transformer().parameters())
    assert printed.parameters == pytest.approx(4 * numbers * (1 + 1 / wrapping.RANKS) / 1e6)
    assert printed.gathers == 1


def test_fully_shard_by_layer_holds_all_shards_and_the_larger_layer() -> None:
    found = {name: wrapping.held(wrapping.Transformer, wrap) for name, wrap in wrapping.SAMPLES.items()}
    ddp, by_layer, printed, older, lean = found.values()
    assert [round(row.parameters, 1) for row in found.values()] == [33.6, 25.2, 42.0, 42.0, 25.2]
    assert by_layer.total < ddp.total < printed.total
    assert lean.total < older.total


@pytest.mark.slow
def test_fsdp_sends_half_as_much_again_only_where_all_dtypes_are_equal() -> None:
    sent = [by_dtype.sent(way).sent for way in by_dtype.POLICIES]
    assert sent == pytest.approx([6.0, 9.0, 6.0, 4.5], abs=0.01)


@pytest.mark.slow
def test_more_units_hold_less_and_one_sends_what_ddp_sends() -> None:
    """One unit stays, here as in torch: two tables of the lesson once said 1 gather, and 2."""
    rows = wrapping.by_units().rows
    held = [float(row[1]) for row in rows]
    assert held == sorted(held, reverse=True)
    assert [int(row[2]) for row in rows] == [1, 4, 8, 16]
    assert [float(row[3]) for row in rows[1:]] == pytest.approx([1.5 * float(rows[0][3])] * 3, rel=0.02)


@pytest.mark.slow
def test_stage_2_sends_what_ddp_sends_and_stage_3_half_as_much_again() -> None:
    ddp, two, three = (trainings.port(trainings.STAGES[stage]) for stage in (0, 2, 3))
    assert two == pytest.approx(ddp)
    assert three == pytest.approx(1.5 * ddp)


@pytest.mark.slow
def test_a_mesh_of_two_dimensions_sends_what_hybrid_sharding_does() -> None:
    assert trainings.port("… on a mesh of 2 × 2") == pytest.approx(trainings.port("hybrid, nodes of 2"), rel=0.01)


@pytest.mark.slow
def test_every_method_trains_the_same_model() -> None:
    alone = trainings.training(trainings.STAGES[0], ranks=1).losses
    for method in trainings.METHODS:
        assert trainings.training(method).losses == pytest.approx(alone, rel=1e-5)
