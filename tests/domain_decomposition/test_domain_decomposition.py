"""A field on blocks: numbers, gradients and messages of a halo exchange."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep import run
from lockstep.cost import domain_decomposition as cost
from lockstep.domain_decomposition import Blocks, advect, with_halo
from lockstep.domain_decomposition.advection import kernel, step
from lockstep.domain_decomposition.halo_exchange import halo_exchange
from lockstep.errors import RankRaised, UsageError

STEPS = 5


def field(rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """Two fields (2, rows, columns), and a weight for each cell of the result."""
    source = torch.Generator().manual_seed(rows * columns)
    u, weight = torch.randn(2, 2, rows, columns, generator=source, dtype=torch.float64)
    return u, weight


def drawn_kernel() -> Tensor:
    """Of a wind from all sides: none of the nine weights is zero, or another's."""
    return torch.randn(3, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def serial(rows: int, columns: int) -> list[Tensor]:
    u, weight = field(rows, columns)
    leaves = u.requires_grad_(), drawn_kernel().requires_grad_()
    out = leaves[0]
    for _ in range(STEPS):
        out = step(F.pad(out.unsqueeze(1), (1, 1, 1, 1), mode="circular").squeeze(1), leaves[1])
    (out * weight).sum().backward()
    return [out.detach(), *(x.grad for x in leaves if x.grad is not None)]


def parallel(blocks: Blocks, width: int) -> list[Tensor]:
    r, (u, weight) = dist.get_rank(), field(blocks.rows, blocks.columns)
    leaves = blocks.part(u, r).requires_grad_(), drawn_kernel().requires_grad_()
    out = advect(leaves[0], blocks, leaves[1], STEPS, width)
    (out * blocks.part(weight, r)).sum().backward()
    return [out.detach(), *(x.grad for x in leaves if x.grad is not None)]


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize(
    "blocks", [Blocks(7, 9, 2, 2), Blocks(9, 11, 3, 1), Blocks(4, 13, 1, 4), Blocks(3, 5, 1, 1), Blocks(10, 9, 3, 2)]
)
def test_blocks_give_the_field_and_its_gradients(blocks: Blocks, width: int) -> None:
    """The gradient of the kernel, which all ranks use, is the sum of theirs."""
    whole, ranks = serial(blocks.rows, blocks.columns), blocks.P * blocks.Q
    done = run(parallel, blocks, width, ranks=ranks, on="dgx-a100", strict=True)
    for rank, (out, gradient, _) in enumerate(done.values):
        torch.testing.assert_close(out, blocks.part(whole[0], rank), rtol=1e-11, atol=1e-11)
        torch.testing.assert_close(gradient, blocks.part(whole[1], rank), rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(sum(values[2] for values in done.values), whole[2], rtol=1e-11, atol=1e-11)


def test_real_processes_have_the_same_numbers() -> None:
    blocks = Blocks(5, 6, 2, 1)
    real, virtual = (run(parallel, blocks, 2, ranks=2, on=world).values for world in ("processes", "virtual"))
    for mine, theirs in zip(real, virtual, strict=True):
        for x, y in zip(mine, theirs, strict=True):
            torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("blocks", [Blocks(8, 12, 2, 2), Blocks(8, 12, 4, 1), Blocks(8, 12, 1, 3)])
def test_messages_are_those_of_the_formula(blocks: Blocks, width: int) -> None:
    u, _ = field(blocks.rows, blocks.columns)
    counts = run(
        lambda: with_halo(blocks.part(u, dist.get_rank()), blocks, width),
        ranks=blocks.P * blocks.Q,
        on="dgx-a100",
    ).trace.counts()
    h, w = blocks.rows // blocks.P, blocks.columns // blocks.Q
    for rank in range(blocks.P * blocks.Q):
        assert counts[rank, "send"].nbytes == 8 * len(u) * cost.sent(h, w, blocks.P, blocks.Q, width)
        assert counts[rank, "send"].number == 2 * (blocks.P > 1) + 2 * (blocks.Q > 1)


def test_squares_send_less_than_strips_from_five_ranks_on() -> None:
    n, width = 1024, 1
    for side in (2, 3, 4, 8):
        square = cost.sent(n // side, n // side, side, side, width)
        strip = cost.sent(n // side**2, n, side**2, 1, width)
        assert (square < strip) == (side**2 >= 5)


def test_a_wind_of_whole_cells_moves_the_field_and_nothing_is_lost() -> None:
    u = torch.zeros(1, 6, 6)
    u[0, 1, 1] = 1.0
    (moved,) = run(lambda: advect(u, Blocks(6, 6, 1, 1), kernel(1.0, 1.0), 5), ranks=1).values
    assert moved[0].nonzero().tolist() == [[0, 0]]
    (spread,) = run(lambda: advect(u, Blocks(6, 6, 1, 1), kernel(0.3, 0.6), 5), ranks=1).values
    assert float(spread.sum()) == pytest.approx(1.0)


def test_what_cannot_be_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="2 x 9 cells cannot be cut in 3 x 1 blocks"):
        Blocks(2, 9, 3, 1)
    with pytest.raises(UsageError, match=r"A wind of \(1.5, 0\) cells a step is unstable"):
        kernel(1.5, 0)
    with pytest.raises(RankRaised, match="A halo of 3 is not to be had of blocks with 2 x 9 cells"):
        run(lambda: with_halo(torch.ones(2, 9), Blocks(4, 9, 2, 1), 3), ranks=2)
    with pytest.raises(RankRaised, match="2 x 2 blocks are not for 2 ranks"):
        run(lambda: with_halo(torch.ones(2, 9), Blocks(4, 18, 2, 2)), ranks=2)


def rim_of_own_sizes(u: Tensor, blocks: Blocks, width: int) -> bool:
    block = blocks.part(u, dist.get_rank())
    return torch.equal(halo_exchange(block, blocks.P, blocks.Q, width), with_halo(block, blocks, width))


@pytest.mark.parametrize(("P", "Q"), [(1, 1), (1, 2), (2, 1), (3, 2)])
def test_a_rank_needs_no_size_but_its_own(P: int, Q: int) -> None:
    u = torch.arange(77.0).reshape(7, 11)
    assert all(run(rim_of_own_sizes, u, Blocks(7, 11, P, Q), 2, ranks=P * Q).values)
