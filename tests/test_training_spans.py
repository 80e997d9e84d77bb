"""What a rank works on, as modules and autograd say it: the pass, the layer, the micro-batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from lockstep import run
from lockstep.events import Span
from lockstep.residency.training_spans import layer_of


def spans_of(program: object, ranks: int = 1, rank: int = 0) -> list[tuple[object, ...]]:
    """What the rank works on one after the other, without the times; no two that follow are alike."""
    spans = run(program, ranks=ranks, on="dgx-a100").memory[rank].spans
    assert [s.seconds for s in spans] == sorted(s.seconds for s in spans)
    return [span[1:] for span in spans]


def layers(*found: tuple[str, str]) -> list[tuple[object, ...]]:
    return [(phase, layer, None) for phase, layer in found]


def two_layers() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64))


def in_parts() -> None:
    model, loss = two_layers(), nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for _ in range(2):
            loss(model(torch.ones(8, 64)), torch.zeros(8, 64)).backward()
        optimizer.step()
        optimizer.zero_grad()


def test_a_step_of_two_micro_batches_is_told_layer_by_layer() -> None:
    def part(k: int) -> list[tuple[object, ...]]:
        forward = [("forward", "layer 0", k), ("forward", "layer 1", k), ("forward", "MSELoss", k)]
        return [*forward, *(("backward", layer, number) for _, layer, number in reversed(forward))]

    assert [span for span in spans_of(in_parts) if span[1]] == [*part(0), *part(1)] * 2
    assert [span for span in spans_of(in_parts) if span[0] == "update"] == [("update", "", None)] * 2


def interleaved() -> None:
    """As on a pipeline's first stage: two forward passes, then the backward pass of the older one."""
    model = two_layers()
    first, second = (model(torch.ones(8, 64)) for _ in range(2))
    first.sum().backward()
    third = model(torch.ones(8, 64))
    second.sum().backward()
    third.sum().backward()


def test_a_backward_pass_is_of_the_micro_batch_whose_forward_pass_made_its_graph() -> None:
    seen = [(phase[0].upper(), number) for phase, layer, number in spans_of(interleaved) if layer == "layer 1"]
    assert seen == [("F", 0), ("F", 1), ("B", 0), ("F", 2), ("B", 1), ("B", 2)]


def recurrent() -> None:
    cell, state = nn.RNNCell(8, 8), torch.zeros(4, 8)
    for _ in range(3):
        state = cell(torch.ones(4, 8), state)
    state.sum().backward()


def test_the_steps_of_a_recurrent_network_are_no_micro_batches() -> None:
    assert {span[2] for span in spans_of(recurrent)} == {None}


def by_hand() -> None:
    model = nn.Linear(64, 64)
    for _ in range(2):
        model(torch.ones(8, 64)).sum().backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None


def test_whoever_updates_by_hand_updates_and_has_no_micro_batches() -> None:
    """Its subtraction was a part of the backward pass, and its second step would have been a micro-batch."""
    step = [("forward", "Linear"), ("forward", ""), ("backward", "Linear"), ("update", "")]
    assert spans_of(by_hand) == layers(*step, *step)


class Checkpointed(nn.Module):
    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(2))
        self.head, self.reentrant = nn.Linear(64, 2), reentrant

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=self.reentrant)
        return self.head(x)


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_is_computed_again_is_of_its_layers_backward_pass(reentrant: bool) -> None:
    def program() -> None:
        Checkpointed(reentrant)(torch.ones(8, 64, requires_grad=True)).sum().backward()

    forward = ["blocks.0", "blocks.1", "head"]
    told = [span for span in spans_of(program) if span[1]]
    assert told == layers(*(("forward", x) for x in forward), *(("backward", x) for x in reversed(forward)))


def replicated() -> None:
    DistributedDataParallel(two_layers())(torch.ones(8, 64)).sum().backward()


def sharded() -> None:
    model = two_layers()
    for layer in model:
        fully_shard(layer)
    fully_shard(model)(torch.ones(8, 64)).sum().backward()


@pytest.mark.parametrize("program", [replicated, sharded])
def test_wrappers_have_no_name_of_their_own(program: object) -> None:
    told = [span for span in spans_of(program, ranks=2) if span[1]]
    passes = [("forward", "layer 0"), ("forward", "layer 1"), ("backward", "layer 1"), ("backward", "layer 0")]
    assert told == layers(*passes)


def in_several_models() -> None:
    first, second = nn.Linear(8, 8), nn.Linear(8, 8)
    second(first(torch.ones(4, 8))).sum().backward()


def test_models_of_one_kind_are_numbered() -> None:
    told = [span[1] for span in spans_of(in_several_models) if span[1]]
    assert told == ["Linear 0", "Linear 1", "Linear 1", "Linear 0"]


def test_a_module_that_fails_is_left() -> None:
    class Fails(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError

    def program() -> None:
        try:
            Fails()(torch.ones(2))
        except ValueError:
            nn.Linear(8, 8)(torch.ones(4, 8))

    assert spans_of(program)[-1] != ("forward", "Fails", None)
    assert ("forward", "Linear", None) in spans_of(program)


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("blocks.3.attention.query", "blocks.3"),
        ("3", "3"),
        ("head.norm", "head"),
        ("", ""),
        ("module.2.weight", "2"),
        ("blocks.1._checkpoint_wrapped_module.mlp", "blocks.1"),
    ],
)
def test_a_layer_is_a_member_of_a_list_or_a_child(path: str, layer: str) -> None:
    assert layer_of(path) == layer


def test_phases_are_the_spans_without_their_layers() -> None:
    memory = run(in_parts, ranks=1, on="dgx-a100").memory[0]
    assert [phase for _, phase in memory.phases] == ["forward", "backward"] * 2 + ["update"] + [
        "forward",
        "backward",
        "forward",
        "backward",
        "update",
    ]
    assert isinstance(memory.spans[0], Span)
