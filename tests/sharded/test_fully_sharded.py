"""FullySharded: the gradients of one rank, the bytes and the memory of the formulas, and events in their order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import fully_sharded_program as program
import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from lockstep import run
from lockstep.cost import sharding
from lockstep.datasets import library_text, text_batch
from lockstep.errors import UsageError
from lockstep.events import Count
from lockstep.models import GPT, gpt_layers, linear, mlp, next_token_loss
from lockstep.sharded.fsdp import FullySharded

ROUNDING = 1e-15

# ---- gradients


@pytest.mark.parametrize("ranks", [1, 2, 3, *(pytest.param(K, marks=pytest.mark.slow) for K in (4, 8))])
def test_gradients_and_parameters_are_those_of_one_rank(ranks: int) -> None:
    for differences in run(program.differences, ranks=ranks, on="dgx-a100").values:
        assert differences.keys() == program.TRAININGS.keys()
        assert max(differences.values()) <= ROUNDING, differences


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_on_processes_too(ranks: int) -> None:
    for differences in run(program.differences, ranks=ranks, on="processes").values:
        assert max(differences.values()) <= ROUNDING, differences


@pytest.mark.slow
def test_under_torchrun_too() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3", program.__file__]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=Path(program.__file__).parent)
    assert done.returncode == 0, done.stderr[-2000:]
    (told,) = (line for line in done.stdout.splitlines() if line.startswith("furthest"))
    assert float(told.split()[1]) <= ROUNDING


# ---- bytes and memory, by formula

SIZES = [(64, 48), (48, 80), (80, 40), (40, 24)]  # float32
N = [(inputs + 1) * outputs for inputs, outputs in SIZES]


def layers() -> Any:
    return (linear(inputs, outputs, 0, index) for index, (inputs, outputs) in enumerate(SIZES))


def adam(micro: int = 1, **options: Any) -> None:
    model = FullySharded(layers(), **options)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        for _ in range(micro):
            model(torch.ones(2, 64)).square().mean().backward()
        optimizer.step()


def by_kind(result: Any, rank: int = 0) -> dict[str, Count]:
    return {kind: count for (r, kind), count in result.trace.counts().items() if r == rank}


def times(steps: int, booked: dict[str, Count]) -> dict[str, Count]:
    return {kind: Count(steps * count.number, steps * count.nbytes) for kind, count in booked.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("prefetch", [False, True])
def test_bytes_and_peaks_are_those_of_the_formulas(ranks: int, prefetch: bool) -> None:
    """At rest a rank has a shard of everything. Whole: a unit, or two; and of the gradient of a unit, what autograd has
    left, and the vector that travels, beside the one before while it is under way."""
    result = run(adam, prefetch=prefetch, ranks=ranks, on="dgx-a100")
    assert by_kind(result) == times(2, sharding.booked(N, ranks, 3))
    n, shards = sharding.shard_lengths(N, ranks), sharding.model_states(N, ranks, 3)
    whole = [ranks * length for length in n]
    before = [*whole[1:], 0] if prefetch else [0] * len(n)
    moments = [sum(n[u + 1 :]) + before[u] + whole[u] + N[u] for u in range(len(n))]
    for memory in result.memory:
        assert memory.peaks["parameters"] == shards.parameters + sharding.peak_gathered(N, ranks, 1 + prefetch)
        assert memory.peaks["optimizer state"] == shards.optimizer + 4 * len(n)  # Adam counts steps for each tensor
        assert memory.peaks["gradients"] == 4 * max(moments)


@pytest.mark.slow
def test_what_each_option_gathers() -> None:
    """Three micro-batches: gradients travel for each."""
    kept = by_kind(run(adam, 3, reshard_after_forward=False, ranks=2, on="dgx-a100"))
    assert kept == times(2 * 3, sharding.booked(N, 2, 3, kept=len(N)))
    assert by_kind(run(adam, 3, ranks=2, on="dgx-a100")) == times(2 * 3, sharding.booked(N, 2, 3))


def without_data() -> None:
    model = FullySharded(nn.Linear(4096, 4096) for _ in range(6))
    model(torch.ones(8, 4096)).square().mean().backward()


@pytest.mark.slow
def test_a_large_model_without_data() -> None:
    (memory, *_) = run(without_data, ranks=8, on="dgx-a100", fake=True).memory
    sizes = [4096 * 4097] * 6
    shards = sharding.model_states(sizes, 8, 3)
    assert memory.peaks["parameters"] == shards.parameters + sharding.peak_gathered(sizes, 8, 2)


def whole_at_once() -> None:
    """As the notes' sample: no units are named."""
    model = FullySharded(nn.Sequential(*layers()))
    model(torch.ones(2, 64)).square().mean().backward()


def test_without_units_the_whole_model_is_gathered_once() -> None:
    result = run(whole_at_once, ranks=4, on="dgx-a100")
    shards = sharding.model_states(sum(N), 4, 3)
    assert by_kind(result) == sharding.booked(sum(N), 4, 3, kept=1)
    assert result.memory[0].peaks["parameters"] == shards.parameters + sharding.peak_gathered(sum(N), 4)


def building() -> None:
    FullySharded(linear(64, 64, 0, index) for index in range(32))


def test_a_model_is_built_without_anybody_having_it() -> None:
    """32 layers: of each a quarter is kept; one is whole as it was drawn, and twice more while it is cut up."""
    layer = 4 * 65 * 64
    peak = run(building, ranks=4, on="dgx-a100").peak_memory[0]
    assert 32 * layer // 4 < peak <= 32 * layer // 4 + 3 * layer + 100


# ---- events in their order


def one_pass(**options: Any) -> None:
    FullySharded(layers(), **options)(torch.ones(2, 64)).square().mean().backward()


def told(result: Any) -> list[str]:
    """The collectives of rank 0 and its products, in the order in which they were posted; what is posted at one time,
    collectives first. G gathers a unit, M multiplies matrices of it, R reduces its gradient."""
    whole = [4 * 3 * n for n in sharding.shard_lengths(N, 3)]
    found, unit = [], 0
    for e in sorted(result.trace.of_rank(0), key=lambda e: (e.posted, e.kind == "compute", e.kind)):
        if e.kind != "compute":
            unit = whole.index(e.nbytes)
            found.append(f"{e.kind[:1].replace('a', 'G').replace('r', 'R')}{unit}")
        elif "mm" in e.name:
            found.append("M")
    return found


def test_with_prefetch_the_next_gather_is_posted_before_a_unit_computes() -> None:
    result = run(one_pass, ranks=3, on="dgx-a100")
    assert " ".join(told(result)) == "G0 G1 M G2 M G3 M M G3 G2 M G1 R3 M G0 R2 M R1 M R0"
    gathers = [e for e in result.trace.of_rank(0) if e.kind == "all_gather"]
    assert [e.wait == e.duration for e in gathers].count(True) == 2, "nothing hides the first one of either pass"


def test_without_prefetch_a_unit_is_gathered_when_it_is_needed() -> None:
    result = run(one_pass, prefetch=False, ranks=3, on="dgx-a100")
    assert " ".join(told(result)) == "G0 M G1 M G2 M G3 M G3 M R3 G2 M R2 G1 M R1 G0 M R0"
    assert all(e.wait == e.duration for e in result.trace.of_rank(0) if e.kind != "compute")


def hidden(result: Any, kind: str) -> list[int]:
    """FLOP of matrix products between the posting of each and the wait for it, in units of 2 * 2 * inputs * outputs."""
    return [e.meanwhile for e in result.trace.of_rank(0) if e.kind == kind]


@pytest.mark.slow
def test_products_are_computed_while_it_travels() -> None:
    product = [2 * 2 * a * b for a, b in SIZES]
    result = run(one_pass, ranks=3, on="processes")
    assert hidden(result, "all_gather") == [0, *product[:3], 0, *(2 * p for p in product[:0:-1])]
    assert hidden(result, "reduce_scatter") == [2 * product[2], 2 * product[1], product[0], 0]
    alone = run(one_pass, prefetch=False, ranks=3, on="processes")
    assert not any(hidden(alone, "all_gather") + hidden(alone, "reduce_scatter"))


# ---- models of all kinds


def gradients_of(build: Any, x: Tensor, **options: Any) -> bool:
    """Whether this rank's share gives the one-rank gradients. ``build()`` gives a model and its units."""
    serial, _ = build()
    serial(x).square().mean().backward()
    model, units = build()
    ours = FullySharded(model, units, **options)
    share = x.chunk(dist.get_world_size())[dist.get_rank()]
    ours(share).square().mean().backward()
    whole = ours.full_gradients()
    return all(torch.allclose(whole[name], p.grad) for name, p in serial.named_parameters())


class Recurrent(nn.Module):
    """A unit that is used three times, and one that is computed again in the backward pass."""

    def __init__(self, recomputes: str) -> None:
        super().__init__()
        self.cell, self.rest, self.recomputes = linear(6, 6, 0, 0), mlp([6, 5, 3]), recomputes

    def forward(self, x: Tensor) -> Any:
        for _ in range(3):
            x = self.cell(x).relu()
        if self.recomputes == "unit":
            return checkpoint(self.rest, x, use_reentrant=False)
        if self.recomputes == "to its end":  # so that hooks after the unit are called again, too
            with set_checkpoint_early_stop(False):
                return checkpoint(self.rest, x, use_reentrant=False)
        if self.recomputes == "two units":
            return checkpoint(lambda x: self.rest(self.cell(x)), x, use_reentrant=False)
        if self.recomputes == "in a pass of its own":
            return checkpoint(self.rest, x, use_reentrant=True)
        return self.rest(x)


def recurrent() -> list[bool]:
    def build(recomputes: str) -> Any:
        model = Recurrent(recomputes)
        return model, [model.cell, model.rest]

    x = torch.randn(12, 6, generator=torch.Generator().manual_seed(1))
    kinds = ["", "unit", "to its end", "two units", "in a pass of its own"]
    return [gradients_of(lambda kind=kind: build(kind), x, prefetch=p) for kind in kinds for p in (True, False)]


@pytest.mark.parametrize("on", ["dgx-a100", pytest.param("processes", marks=pytest.mark.slow)])
def test_units_that_are_used_more_than_once_or_computed_again(on: str) -> None:
    assert run(recurrent, ranks=3, on=on).values == [[True] * 10] * 3


class Recomputed(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Any:
        return checkpoint(self.layer, x, use_reentrant=False)


def recomputed() -> None:
    model = nn.Sequential(*(Recomputed(layer) for layer in layers()))
    FullySharded(model, [part.layer for part in model])(torch.ones(2, 64)).square().mean().backward()


def test_what_is_computed_again_is_not_gathered_again() -> None:
    """It is whole for its backward pass by then. Nor is the next one fetched, which is done with."""
    assert by_kind(run(recomputed, ranks=3, on="dgx-a100")) == sharding.booked(N, 3, 3)


SMALL = {"width": 16, "heads": 2, "layers": 2, "context": 12, "dtype": torch.float64}


def losses(build: Any) -> list[float]:
    """Of the whole batch, while a small GPT learns the standard library's source."""
    model, text = build(), library_text(20_000)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    found = []
    for step in range(3):
        x, y = (t.chunk(dist.get_world_size())[dist.get_rank()] for t in text_batch(text, 6, 12, seed=step))
        optimizer.zero_grad()
        loss = next_token_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        found.append(total.item() / dist.get_world_size())
    return found


@pytest.mark.slow
def test_a_small_gpt_learns_as_on_one_rank() -> None:
    alone = run(losses, lambda: GPT(**SMALL), ranks=1, on="dgx-a100").values[0]
    for found in run(losses, lambda: FullySharded(gpt_layers(**SMALL)), ranks=3, on="dgx-a100").values:
        assert found == pytest.approx(alone, rel=1e-12)
        assert found[0] > found[-1]


class Told(nn.Module):
    """Some layers are used, and what it gives is more than a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(linear(6, 6, 0, index) for index in range(3))
        self.scale, self.unused = nn.Parameter(torch.ones(6)), nn.Parameter(torch.ones(6))

    def forward(self, x: Tensor) -> dict[str, list[Tensor]]:
        return {"out": [self.layers[2](self.layers[0](x) * self.scale)]}


def with_layers_left_out() -> list[Any]:
    model = Told()
    ours = FullySharded(model, model.layers)
    x = torch.ones(2, 6) * dist.get_rank()
    for _ in range(2):
        ours(x)["out"][0].sum().backward()
    return [None if unit.shard.grad is None else len(unit.shard.grad) for unit in ours.units]


def test_units_that_nobody_uses_and_outputs_in_a_structure() -> None:
    """The model's own unit is first: what is in none of the others."""
    assert run(with_layers_left_out, ranks=2, on="dgx-a100").values == [[6, 21, None, 21]] * 2


def looked_at_between() -> list[bool]:
    """Forward passes without a backward pass leave units whole; the optimizer makes that out of date."""
    model = mlp([6, 5, 4])
    ours = FullySharded(model, [model[2]])
    x, found = torch.ones(2, 6), []
    for _ in range(2):
        optimizer = torch.optim.SGD(ours.parameters(), lr=0.5)
        ours(x).sum().backward()
        ours(x)  # with gradients, and nobody asks for them
        optimizer.step()
        serial = mlp([6, 5, 4])
        serial.load_state_dict(ours.full_state())
        found.append(torch.equal(ours(x), serial(x)))
        with torch.no_grad():
            found.append(torch.equal(ours(x), serial(x)))
        found.append(all(unit.whole.untyped_storage().nbytes() == 0 for unit in ours.units))
    return found


def test_what_is_whole_is_never_out_of_date() -> None:
    assert all(all(found) for found in run(looked_at_between, ranks=2, on="dgx-a100").values)


def frozen() -> tuple[list[bool], bool]:
    model = mlp([6, 5, 4, 3])
    model[2].requires_grad_(False)
    ours = FullySharded(model, model)
    ours(torch.ones(2, 6)).sum().backward()
    freed = all(unit.whole.untyped_storage().nbytes() == 0 for unit in ours.units)
    return [p.grad is None for p in ours.parameters()], freed


def test_a_frozen_unit_gets_no_gradient_and_passes_it_on() -> None:
    result = run(frozen, ranks=2, on="dgx-a100")
    assert result.values == [([False, True, False], True)] * 2
    assert by_kind(result)["reduce_scatter"][0] == 2


def in_a_group() -> float | None:
    group = dist.new_group([1, 3])
    if dist.get_rank() not in (1, 3):
        return None
    model = FullySharded(mlp([6, 5, 4]), group=group)
    model(torch.full((2, 6), float(dist.get_rank()))).square().mean().backward()
    return model.full_gradients()["0.weight"].sum().item()


@pytest.mark.parametrize("on", ["dgx-a100", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_group_of_some_ranks(on: str) -> None:
    zero, one, two, three = run(in_a_group, ranks=4, on=on).values
    assert zero is two is None
    assert one == three != 0


def in_half_the_bytes() -> list[Any]:
    serial, model = mlp([6, 5, 4]), mlp([6, 5, 4])
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    serial(x).square().mean().backward()
    ours = FullySharded(model, model, precision=torch.bfloat16)
    out = ours(x.chunk(2)[dist.get_rank()])
    out.square().mean().backward()
    near = [
        torch.allclose(a, p.grad, rtol=0.1, atol=0.02)
        for a, p in zip(ours.full_gradients().values(), serial.parameters(), strict=True)
    ]
    same = all(torch.equal(a, p) for a, p in zip(ours.full_state().values(), serial.parameters(), strict=True))
    return [out.dtype, {p.dtype for p in ours.parameters()}, {p.grad.dtype for p in ours.parameters()}, all(near), same]


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_half_precision_travels_and_the_master_keeps_float32(on: str) -> None:
    result = run(in_half_the_bytes, ranks=2, on=on)
    assert result.values == [[torch.bfloat16, {torch.float32}, {torch.float32}, True, True]] * 2
    sent = [e.nbytes for e in result.trace.of_rank(0) if e.kind == "reduce_scatter"]
    assert sent == [2 * 24, 2 * 36]  # 24 numbers of the last layer, 35 and one of padding of the first


def used_outside() -> bool:
    model = mlp([6, 5, 4])
    ours = FullySharded(model, model)
    return bool(ours.module[0].weight.norm().isnan()) and list(ours.module.parameters()) == []


def test_a_parameter_that_is_not_there_is_no_number() -> None:
    """Not a crash of the process, which is what an empty storage gives."""
    assert run(used_outside, ranks=2, on="dgx-a100").values == [True] * 2


def refused(build: Any) -> str:
    try:
        build()
    except UsageError as error:
        return str(error.args[0])
    return ""


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = linear(6, 6, 0, 0), linear(6, 6, 0, 1)
        self.second.weight = self.first.weight


def refusals() -> list[str]:
    half_frozen = mlp([6, 5, 4])
    half_frozen[0].requires_grad_(False)
    shared = Shared()
    return [
        refused(lambda: FullySharded(nn.ReLU())),
        refused(lambda: FullySharded(half_frozen)),
        refused(lambda: FullySharded(nn.Linear(6, 5, device="meta"))),
        refused(lambda: FullySharded(mlp([6, 5]), [linear(6, 5, 0, 0)])),
        refused(lambda: FullySharded(shared, [shared.first, shared.second])),
    ]


def test_what_it_refuses() -> None:
    assert run(refusals, ranks=1, on="dgx-a100").values == [[
        "The model has no parameter that requires a gradient.",
        "The unit of 0.weight mixes frozen and trained parameters, dtypes, or devices.",
        "The unit of weight is on the meta device: it has no numbers.",
        "A Linear in `units` is no part of the model.",
        "The parameter second.weight is shared with another unit.",
    ]]  # fmt: skip
