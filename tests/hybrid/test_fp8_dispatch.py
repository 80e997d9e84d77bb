"""FP8 dispatch on a grid: what travels, what is rounded, and that the simulated step is the step in full."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from steps_compared import compare

from lockstep import run
from lockstep.errors import UsageError
from lockstep.hybrid.beside_planner import items, planned
from lockstep.hybrid.expert_layer import ExpertLayer
from lockstep.hybrid.fp8_dispatch import opened, packed
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import simulate_step
from lockstep.machines import find

PAIRS = replace(find("dgx-a100"), ranks_per_node=2)
TINY = GPTSize(layers=2, hidden=128, heads=2, seq=16, vocab=64, experts=4, top_k=2, expert_ffn=96, dropout=0.0)
GRID = Grid(dp=2, tp=2, ep=4, sequence_parallel=True)


def test_numbers_come_out_as_8_bits_hold_them() -> None:
    rows = torch.randn(6, 256, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    rows[0, :128] *= 1e4  # another tile's scale is its own
    rows[1] = 0
    sent = packed(rows)
    assert (sent.dtype, sent.shape) == (torch.uint8, (6, 256 + 2 * 4))
    found = opened(sent, torch.bfloat16)
    largest = rows.unflatten(1, (-1, 128)).abs().amax(2, keepdim=True).float()
    apart = (found.float() - rows.float()).unflatten(1, (-1, 128)).abs()
    assert (apart <= rows.float().unflatten(1, (-1, 128)).abs() / 16 + largest * 2**-16).all()
    assert apart.max() > 0
    assert torch.equal(opened(packed(found), torch.bfloat16), found), "a power of 2 rounds nothing"
    assert not found[1].any()


def layers(dispatch: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """On a rank: what a layer makes of its tokens, and the gradients of tokens and experts."""
    model = replace(TINY, dtype="float32", capacity=2.0, dispatch=dispatch)
    layer = ExpertLayer(model, 1, dist.group.WORLD)
    x = torch.randn(1, 16, 128, generator=torch.Generator().manual_seed(dist.get_rank())).requires_grad_()
    y = layer(x)
    y.square().sum().backward()
    return y.detach(), x.grad, layer.down.grad


def test_a_layer_is_the_same_up_to_8_bits_on_processes_too() -> None:
    """Values, and gradients of both ends, are those without FP8 within a few per cent; not all are equal."""
    exact = run(layers, "dtype", ranks=2, on="dgx-a100").values
    for on in ("dgx-a100", "processes"):
        for found, wanted in zip(run(layers, "fp8", ranks=2, on=on).values, exact, strict=True):
            for a, b in zip(found, wanted, strict=True):
                assert 0 < (a - b).norm() < 0.06 * b.norm()


def test_dispatch_has_half_the_bytes_and_combine_has_them_all() -> None:
    played = compare(replace(TINY, dispatch="fp8"), GRID, 1, 2, PAIRS)
    rows = TINY.seq // 2 * TINY.top_k
    sizes = [e.nbytes for e in played.trace if e.kind == "all_to_all" and e.rank == 0]
    assert set(sizes) == {rows * (128 + 4), rows * 2 * 128}
    assert sizes.count(rows * (128 + 4)) == sizes.count(rows * 2 * 128)
    ahead = sizes[: 2 * TINY.layers]
    assert ahead == [rows * (128 + 4), rows * 2 * 128] * TINY.layers
    assert sizes[2 * TINY.layers : 4 * TINY.layers] == ahead, "backward: the combine's gradient leaves first, in FP8"


@pytest.mark.slow
@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_a_simulated_step_is_the_step_in_full(recompute: str) -> None:
    compare(replace(TINY, layers=4, dispatch="fp8"), replace(GRID, pp=2, recompute=recompute), 2, 4, PAIRS)


def test_planner_and_simulation_save_alike() -> None:
    """Of the wait for experts both save about a quarter of the bytes."""
    model = GPTSize(2, 2048, 16, 2048, 1024, 0.0, "flash", "bfloat16", 16, 4, 1024)
    grid = Grid(dp=16, ep=16)
    ways = (model, replace(model, dispatch="fp8"))
    rows = [items(planned(m, grid, 1, 1, "fused"), simulate_step(m, grid, 1, 1)) for m in ways]
    saved = []
    for side in ("planned", "simulated"):
        wide, low = ({item.name: getattr(item, side) for item in one}["ep"] for one in rows)
        saved.append(low / wide)
    assert saved == pytest.approx([(33 / 64 + 1) / 2] * 2, rel=0.05)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"dispatch": "fp7"}, "no dispatch 'fp7'"),
        ({"dispatch": "fp8", "hidden": 64}, "does not divide hidden = 64"),
        ({"dispatch": "fp8", "experts": 0, "top_k": 0, "expert_ffn": 0}, "dispatch are those of experts"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        replace(TINY, **changed)
