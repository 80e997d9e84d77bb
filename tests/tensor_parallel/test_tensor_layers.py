"""Layers by themselves: what they refuse, the loss of a cut vocabulary, and the random numbers of dropout."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep import run
from lockstep.errors import RankRaised, UsageError
from lockstep.events import Count
from lockstep.models import linear
from lockstep.tensor_parallel.attention import ParallelAttention, heads_of, kv_groups
from lockstep.tensor_parallel.conv import FilterParallelConv2d
from lockstep.tensor_parallel.dropout import Dropout, Streams
from lockstep.tensor_parallel.f_and_g import own
from lockstep.tensor_parallel.vocabulary import VocabParallelEmbedding, vocab_parallel_cross_entropy

# ---- the notes' sum


def test_rows_are_x1_a1_and_x2_a2() -> None:
    """The notes have X1·A1 + X1·A2, where sizes fit and the sum is another one."""
    x, a = torch.randn(3, 4), torch.randn(4, 5)
    (x1, x2), (a1, a2) = x.chunk(2, 1), a.chunk(2)
    torch.testing.assert_close(x1 @ a1 + x2 @ a2, x @ a)
    assert not torch.allclose(x1 @ a1 + x1 @ a2, x @ a)
    assert not torch.allclose(F.gelu(x1 @ a1) + F.gelu(x2 @ a2), F.gelu(x @ a))


# ---- heads


def test_who_has_which_heads() -> None:
    assert [heads_of(r, 2, 4, 4) for r in range(2)] == [(range(2), range(2)), (range(2, 4), range(2, 4))]
    assert [heads_of(r, 4, 4, 2)[1] for r in range(4)] == [range(1), range(1), range(1, 2), range(1, 2)]
    assert [len(heads_of(r, 3, 5, 5)[0]) for r in range(3)] == [2, 2, 1]


@pytest.mark.parametrize(("K", "heads", "kv_heads"), [(3, 8, 2), (8, 12, 4), (2, 6, 4), (1, 4, 0)])
def test_heads_that_cannot_be_shared_out(K: int, heads: int, kv_heads: int) -> None:
    with pytest.raises(UsageError):
        heads_of(0, K, heads, kv_heads)


def grouped(shared: bool) -> list[float]:
    """Whether all who have KV head 0 have the same gradient of it."""
    sharers = kv_groups(1) if shared else None
    layer = ParallelAttention(linear(4, 12, 0, 0), linear(8, 4, 0, 1), heads=4, kv_heads=1, sharers=sharers)
    layer(torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(1))).square().sum().backward()
    return layer.qkv.weight.grad[-4:].flatten().tolist()


@pytest.mark.slow
def test_a_kv_head_of_several_ranks_needs_a_group_of_them() -> None:
    first, second = run(grouped, True, ranks=2, on="dgx-a100").values
    assert first == second
    with pytest.raises(RankRaised, match="Fewer KV heads than ranks"):
        run(grouped, False, ranks=2, on="dgx-a100")


def test_a_convolution_in_groups_is_refused() -> None:
    with pytest.raises(RankRaised, match="by its groups"):
        run(lambda: FilterParallelConv2d(nn.Conv2d(4, 4, 3, groups=2)), ranks=2, on="dgx-a100")


# ---- vocabulary

V, n = 11, 6


def scores() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(1)
    return 50 * torch.randn(2, 3, V, generator=drawn, dtype=torch.float64), torch.randint(V, (2, 3), generator=drawn)


def cut_loss() -> tuple[Tensor, Tensor]:
    z, tokens = scores()
    mine = z[..., own(V, None)].clone().requires_grad_()
    loss = vocab_parallel_cross_entropy(mine, tokens, V)
    loss.backward()
    return loss.detach(), mine.grad


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_loss_of_a_cut_vocabulary(ranks: int) -> None:
    """Scores as large as 100, whose exp would be too much for 32 bits; three numbers for each token travel."""
    z, tokens = scores()
    z.requires_grad_()
    wanted = F.cross_entropy(z.flatten(0, 1), tokens.flatten())
    wanted.backward()
    result = run(cut_loss, ranks=ranks, on="dgx-a100")
    for loss, _ in result.values:
        torch.testing.assert_close(loss, wanted.detach())
    torch.testing.assert_close(torch.cat([gradient for _, gradient in result.values], -1), z.grad)
    assert result.trace.counts()[0, "all_reduce"] == Count(3, 3 * 8 * n)


def scores_too_large() -> float:
    return vocab_parallel_cross_entropy(torch.full((1, 2), 1e4), torch.tensor([0]), 4).item()


def test_large_scores_do_not_overflow() -> None:
    assert run(scores_too_large, ranks=2, on="dgx-a100").values == [pytest.approx(1.3863, abs=1e-3)] * 2


def looked_up() -> list[float]:
    table = nn.Embedding(5, 1)
    table.weight.data = torch.arange(5.0).unsqueeze(1)
    return VocabParallelEmbedding(table)(torch.tensor([4, 0, 2, 2])).flatten().tolist()


def test_tokens_of_all_ranks_are_found() -> None:
    assert run(looked_up, ranks=3, on="dgx-a100").values == [[4, 0, 2, 2]] * 3


# ---- dropout


def dropped() -> tuple[Tensor, Tensor, Tensor]:
    """Everywhere, in parts, and everywhere again."""
    streams = Streams(7)
    alike, parts = Dropout(0.5, streams.everywhere), Dropout(0.5, streams.parts)
    return alike(torch.ones(64)), parts(torch.ones(64)), alike(torch.ones(64))


def test_streams_are_the_same_where_they_should_be() -> None:
    """What parts have drawn moves nobody else's next number."""
    values = run(dropped, ranks=3, on="dgx-a100").values
    for alike, _, again in values:
        assert torch.equal(alike, values[0][0])
        assert torch.equal(again, values[0][2])
        assert not torch.equal(alike, again)
    parts = [part for _, part, _ in values]
    assert len({tuple(part.tolist()) for part in parts}) == 3
    assert 16 < sum((parts[0] == parts[1]).tolist()) < 48


def kept_of_a_mask() -> tuple[int, bool, bool]:
    drop = Dropout(0.25, Streams(0).parts)
    x = torch.ones(1000, requires_grad=True)
    out = drop(x)
    saved = out.grad_fn.saved_tensors
    out.sum().backward()
    return sum(t.nbytes for t in saved), torch.equal(x.grad, out.detach()), torch.equal(drop.eval()(x), x)


def test_a_mask_is_a_byte_a_number() -> None:
    assert run(kept_of_a_mask, ranks=1, on="dgx-a100").values == [(1000, True, True)]


def drifts(right: bool) -> float:
    """How far a weight that all ranks have is from rank 0's, after five steps with dropout before it."""
    streams = Streams(0)
    drop = Dropout(0.5, streams.everywhere if right else streams.parts)
    weight = nn.Parameter(torch.ones(8))
    sgd = torch.optim.SGD([weight], lr=0.1)
    for _ in range(5):
        sgd.zero_grad()
        (drop(torch.ones(8)) * weight).square().sum().backward()
        sgd.step()
    first = weight.detach().clone()
    dist.broadcast(first, 0)
    return (weight - first).abs().max().item()


def test_other_masks_make_other_models() -> None:
    assert run(drifts, True, ranks=2, on="dgx-a100").values == [0, 0]
    assert run(drifts, False, ranks=2, on="dgx-a100").values[1] > 0.1
