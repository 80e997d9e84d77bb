"""What a rank keeps and sends is what the formulas say, to the byte; and Korthikanti's layer is what its paper says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.cost.tensor_parallel import activations, booked, booked_block, parameters, published_activations
from lockstep.events import Count
from lockstep.models import Block, gpt_layers
from lockstep.residency import peak_of
from lockstep.tensor_parallel.linear import PLAIN, Style
from lockstep.tensor_parallel.published import Size, a_layer
from lockstep.tensor_parallel.sequence import KEEPING, SEQUENCE, SequenceParallelGPT
from lockstep.tensor_parallel.transformer import ParallelBlock, ParallelGPT

b, T, h, a, L = 2, 16, 32, 4, 3
STYLES = {"tensor": PLAIN, "sequence": SEQUENCE, "sequence, kept": KEEPING}
WAYS = list(STYLES)


def blocks(style: Style, layers: int) -> tuple[torch.nn.Module, torch.Tensor]:
    model = torch.nn.Sequential(*(ParallelBlock(Block(h, a, 0, i), style=style) for i in range(layers)))
    positions = T if style == PLAIN else T // dist.get_world_size()
    return model, torch.ones(b, positions, h, requires_grad=True)


def kept(style: Style, layers: int) -> dict[str, int]:
    model, x = blocks(style, layers)
    with peak_of(model, x) as memory:
        model(x)
        return memory().peaks


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow), 4])
def test_what_a_layer_keeps(way: str, ranks: int) -> None:
    two, three = (run(kept, STYLES[way], n, ranks=ranks, on="dgx-a100").values[-1] for n in (2, 3))
    assert three["activations"] - two["activations"] == 4 * activations(b, T, h, a, ranks, way)
    assert three["parameters"] - two["parameters"] == 4 * parameters(h, ranks)


def forward(style: Style) -> None:
    model, x = blocks(style, 1)
    model(x)


def forward_and_backward(style: Style) -> None:
    model, x = blocks(style, 1)
    model(x).sum().backward()


def by_kind(result: Any, rank: int = 0) -> dict[str, Count]:
    return {kind: count for (r, kind), count in result.trace.counts().items() if r == rank}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
def test_collectives_of_a_block(way: str) -> None:
    n = 4 * b * T * h
    there = by_kind(run(forward, STYLES[way], ranks=4, on="dgx-a100"))
    both = by_kind(run(forward_and_backward, STYLES[way], ranks=4, on="dgx-a100"))
    halves = {"all_gather": Count(2, 2 * n), "reduce_scatter": Count(2, 2 * n)}
    assert there == ({"all_reduce": Count(2, 2 * n)} if way == "tensor" else halves)
    assert both == booked_block(b, T, h, way)


def trained(style: Style) -> None:
    cut = ParallelGPT if style == PLAIN else SequenceParallelGPT
    model = cut(gpt_layers(width=h, heads=a, layers=L, context=2 * T), style=style)
    x = torch.zeros(b, T, dtype=torch.int64)
    model.loss(x, x).backward()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("on", ["dgx-a100", pytest.param("processes", marks=pytest.mark.slow)])
def test_collectives_of_the_whole_model(way: str, on: str) -> None:
    result = run(trained, STYLES[way], ranks=4, on=on)
    assert by_kind(result) == booked(b, T, h, L, 2 * T, way)


SMALL = Size(2, 32, 64, 8, 4)


@pytest.mark.parametrize("style", [pytest.param(PLAIN, marks=pytest.mark.slow), SEQUENCE])
@pytest.mark.parametrize("size", [SMALL, pytest.param(Size(), marks=pytest.mark.slow)])
def test_the_published_layer_is_its_formula(size: Size, style: Style) -> None:
    """What the paper leaves out: the mask of the future, mean and deviation of two norms in 16 bits."""
    formula = published_activations(*size, sequence=style == SEQUENCE)
    norms = 8 * size.b * size.T / (1 if style == PLAIN else size.K)
    assert a_layer(size, style) == pytest.approx(formula + size.T**2 + norms, abs=0.5)  # bytes
