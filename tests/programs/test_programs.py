"""Two programs as strangers write them, in several files and for a launcher, run unchanged in both worlds.

Each makes its process group itself, and keeps in a module what belongs to a rank: a manager of process groups, a cached
``rank()``. Where ranks are threads, and shared their modules, the first ended in a false deadlock, and the second took
every rank for rank 0.
"""

from __future__ import annotations

import pytest
import torch
from ring_attention import main as attention
from three_d import train
from torch import nn

from lockstep import run

WORLDS = ["dgx-a100", "processes"]


def one_rank() -> tuple[float, dict[int, tuple[torch.Tensor, torch.Tensor]]]:
    """Loss and gradients of the same step without any parallelism."""
    weights = [[w.clone().requires_grad_() for w in train.weights_of(layer)] for layer in range(train.LAYERS)]
    x, target = train.batch()
    for up, down in weights:
        x = x + nn.functional.gelu(x @ up.T) @ down.T
    loss = nn.functional.mse_loss(x, target)
    loss.backward()
    return loss.item(), {layer: (up.grad, down.grad) for layer, (up, down) in enumerate(weights)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize("sizes", [(2, 2, 2), (1, 4, 2)], ids=str)
def test_3d_parallelism_with_a_module_level_group_manager(on, sizes):
    """Every rank's loss, and its part of every gradient, is that of one rank."""
    loss, gradients = one_rank()
    result = run(train.main, *sizes, backend="nccl" if sizes[0] == 2 else "gloo", ranks=8, on=on)
    seen = set()
    for told, seat, mine in result.values:
        assert told == pytest.approx(loss)
        for layer, (up, down) in mine.items():
            torch.testing.assert_close(up, gradients[layer][0].chunk(sizes[2], dim=0)[seat])
            torch.testing.assert_close(down, gradients[layer][1].chunk(sizes[2], dim=1)[seat])
            seen.add((layer, seat))
    assert seen == {(layer, seat) for layer in range(train.LAYERS) for seat in range(sizes[2])}
    assert "[rank 3] rank 3 of 8, at 127.0.0.1" in result.printed


@pytest.mark.sampled(2)
@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize("causal", [False, True])
def test_ring_attention_with_a_cached_rank(on, causal):
    values = run(attention.main, causal, ranks=4, on=on).values
    assert [rank for rank, _ in values] == [0, 1, 2, 3]
    full = nn.functional.scaled_dot_product_attention(*attention.inputs(), is_causal=causal)
    torch.testing.assert_close(torch.cat([out for _, out in values], dim=1), full)
