"""The small GPT with experts, router collapse, the shared expert, and mixture of depths."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.errors import UsageError
from lockstep.experiments.mixture_of_experts import gpt_on_ranks
from lockstep.experts.collapse import EVERY, RATE, SEED, STEPS, WAYS, collapse_table, computed, recorded, written
from lockstep.experts.expert_parallel import ExpertParallelMoE
from lockstep.experts.gate import TopKGate
from lockstep.experts.gpt import MixtureGPT, on_one_rank, on_ranks
from lockstep.experts.mixture_of_depths import MixtureOfDepths, depth_flops
from lockstep.experts.shared_expert import SharedExpertMoE
from lockstep.experts.training import KINDS, experts_table, kind_of, shares_of_kinds, trained
from lockstep.models import GPT, Block, parameters_of


def test_all_but_the_experts_is_the_small_gpt() -> None:
    dense, mixed = GPT(layers=4, seed=3), MixtureGPT(4, layers=4, seed=3)
    ours = dict(mixed.named_parameters())
    for name, p in dense.named_parameters():
        if name in ours:
            assert torch.equal(ours[name], p), name
    replaced = {name.split(".")[0] for name in dense.state_dict() if name not in ours}
    assert replaced == {"2", "4"}
    expert = 2 * 4 * 64 * 64
    bias = 5 * 64
    assert parameters_of(mixed) - parameters_of(dense) == 2 * (3 * expert - bias + 4 * 64)


def on_two_ranks() -> Tensor:
    model = MixtureGPT(4, seed=1, make=on_ranks(seed=1), dtype=torch.float64)
    return model(torch.arange(16).view(1, 16) + dist.get_rank()).detach()


def test_the_model_on_ranks_is_the_model() -> None:
    for rank, scores in enumerate(run(on_two_ranks, ranks=2, on="dgx-a100").values):
        model = MixtureGPT(4, seed=1, make=on_one_rank(seed=1), dtype=torch.float64)
        torch.testing.assert_close(scores, model(torch.arange(16).view(1, 16) + rank).detach())


@pytest.mark.slow
def test_a_short_training_tells_what_each_expert_gets() -> None:
    done = trained(steps=12)
    assert done.losses[-1] < done.losses[0] - 1
    assert all(sum(shares) == pytest.approx(1) for shares in done.shares)
    table = experts_table(done.model)
    assert len(table.rows) == 4
    assert all(len(row) == len(table.head) for row in table.rows)


def test_kinds_of_bytes() -> None:
    assert [kind_of(ord(c)) for c in " aZ7_"] == ["blanks", "vowels", "consonants", "digits", "signs"]
    (one, two) = shares_of_kinds([{32: 3, 97: 1}, {32: 1}])  # a Counter is one such
    assert one["blanks"] == 0.75
    assert two["vowels"] == 0
    assert len(set("".join(KINDS.values()))) == len("".join(KINDS.values())), "no byte is of two kinds"


def test_the_recorded_collapse() -> None:
    moments = recorded()
    assert len(moments) == len(WAYS) * STEPS // EVERY
    late = {way: [m for m in moments if m.way == way and m.step > STEPS // 4] for way in WAYS}
    assert min(max(m.shares) for m in late["without"]) > 0.9
    assert max(max(m.shares) for m in late["with"]) < 0.6
    assert max(max(m.shares) for m in late["with"][-5:]) < 0.4
    assert all(m.shares == () for m in late["dense"])
    assert len(collapse_table().rows) == 12
    assert (RATE, SEED) == (0.02, 1), "as the file says"


@pytest.mark.slow
def test_the_collapse_computed_anew() -> None:
    moments = computed()
    assert written(moments).splitlines()[:5] == written(recorded()).splitlines()[:5]
    last = {m.way: m for m in moments}
    assert max(last["without"].shares) > 0.9
    assert max(last["with"].shares) < 0.5


# ---- the shared expert


def shared(overlap: bool) -> list[Tensor]:
    mixture = ExpertParallelMoE(TopKGate(128, 4, 2), 64)
    layer = SharedExpertMoE(mixture, 256, overlap=overlap)
    x = torch.randn(60, 128, generator=torch.Generator().manual_seed(dist.get_rank())).requires_grad_()
    y = layer(x)
    y.square().sum().backward()
    return [y.detach(), x.grad, *(p.grad for p in layer.parameters())]


def test_the_shared_expert_hides_a_dispatch_each_way() -> None:
    first, then = (run(shared, overlap, ranks=2, on="commodity-10g") for overlap in (True, False))
    for a, b in zip(first.values, then.values, strict=True):
        assert all(torch.equal(p, q) for p, q in zip(a, b, strict=True))
    assert first.time < then.time
    waits = [[e.wait for e in r.trace.of_rank(0) if e.kind == "all_to_all" and e.nbytes > 1000] for r in (first, then)]
    assert [a < b for a, b in zip(*waits, strict=True)] == [True, False, False, True], "dispatch, and its way back"


# ---- mixture of depths


def test_with_all_tokens_it_is_the_block_weighed_by_the_score() -> None:
    block = Block(16, 2, 0, 1, torch.float64)
    depths = MixtureOfDepths(block, 16, share=1.0)
    x = torch.randn(3, 10, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wanted = x + (x @ depths.router.T) * (block(x) - x)
    torch.testing.assert_close(depths(x), wanted)


def test_tokens_that_are_not_chosen_go_past() -> None:
    block = Block(16, 2, 0, 1)
    depths = MixtureOfDepths(block, 16, share=0.25)
    x = torch.randn(3, 12, 16, generator=torch.Generator().manual_seed(0))
    y = depths(x)
    chosen = depths.chosen((x @ depths.router.T).squeeze(-1))
    assert chosen.shape == (3, 3)
    assert (chosen.diff(dim=1) > 0).all(), "in their own order"
    changed = (y != x).any(-1)
    assert changed.sum(1).tolist() == [3, 3, 3]
    assert torch.equal(torch.nonzero(changed)[:, 1].view(3, 3), chosen)
    y.square().sum().backward()
    assert depths.router.grad.abs().max() > 0


def a_pass(share: float) -> None:
    MixtureOfDepths(Block(16, 2, 0, 1), 16, share)(torch.ones(1, 32, 16))


@pytest.mark.slow
def test_flops_of_an_eighth() -> None:
    for share in (0.125, 0.5, 1.0):
        trace = run(a_pass, share, ranks=1, on="dgx-a100").trace
        assert sum(e.flops for e in trace) == depth_flops(32, 16, share)


def test_a_share_is_one() -> None:
    for share in (0, 1.5):
        with pytest.raises(UsageError, match="The share of the tokens"):
            MixtureOfDepths(Block(16, 2, 0, 1), 16, share)


# ---- the model on ranks


@pytest.mark.slow
def test_a_step_of_the_small_gpt_on_ranks_has_the_gradients_of_one() -> None:
    one, two = (gpt_on_ranks.on(ranks) for ranks in (1, 2))
    assert max(one.apart, two.apart) <= 1e-15
    experts = 8 * gpt_on_ranks.EXPERTS * 2 * 4 * 64 * 64
    assert one.parameters - two.parameters == experts // 2
