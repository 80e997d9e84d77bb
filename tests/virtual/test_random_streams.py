"""Each rank draws its own random numbers, although torch has one generator for all of them and nobody tells it who
draws. Every program here meets the other ranks between two draws, so that the generator has to change hands."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.virtual.random_streams import draws


def meeting(draw, times=3):
    """What a rank draws, with a barrier after each draw."""
    drawn = []
    for _ in range(times):
        drawn.append(draw())
        dist.barrier()
    return drawn


def alone(draw, seed, times=3):
    """The same without other ranks, from torch's generator in this process."""
    before = torch.get_rng_state()
    torch.manual_seed(seed)
    drawn = [draw() for _ in range(times)]
    torch.set_rng_state(before)
    return drawn


def dropout():
    return torch.nn.functional.dropout(torch.ones(16), 0.5).tolist()


def attention():
    x = torch.ones(1, 1, 4, 8)
    return torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5).tolist()


def weights():
    return torch.nn.Linear(3, 3).weight.tolist()


def order():
    return [batch.tolist() for batch in torch.utils.data.DataLoader(torch.arange(8), batch_size=2, shuffle=True)]


def in_a_custom_operator():
    """What others wrote draws where no mode of torch looks."""
    name = "lockstep_tests::noise"
    if not hasattr(torch.ops.lockstep_tests, "noise"):
        torch.library.custom_op(name, lambda x: x + torch.rand(3), mutates_args=(), schema="(Tensor x) -> Tensor")
    return torch.ops.lockstep_tests.noise(torch.zeros(3)).tolist()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("draw", [dropout, attention, weights, order, in_a_custom_operator])
def test_whatever_draws_draws_from_the_ranks_own_stream(draw):
    values = run(meeting, draw, ranks=3, on="dgx-a100", seed=5).values
    assert list(values) == [alone(draw, 5 + r) for r in range(3)]


def test_every_operation_that_takes_a_generator_is_known_to_draw():
    """The clock claims the generator for these; it must not miss one."""
    names = [n.removeprefix("aten::").partition(".") for n in torch._C._dispatch_get_all_op_names() if "aten::" in n]
    found = [getattr(getattr(torch.ops.aten, n, None), o or "default", None) for n, _, o in names]
    taking = [f for f in found if f and any("Generator" in str(a.type) for a in f._schema.arguments)]
    assert len(taking) > 50
    assert [f for f in taking if not draws(f)] == []
    assert not draws(torch.ops.aten.add.Tensor)


def test_states_that_are_read_and_set_are_the_ranks_own():
    def fn():
        first = torch.get_rng_state()
        dist.barrier()
        a = torch.rand(1).item()
        dist.barrier()
        torch.set_rng_state(first)
        dist.barrier()
        return torch.initial_seed(), a, torch.rand(1).item()

    values = run(fn, ranks=3, on="dgx-a100", seed=7).values
    assert [v[0] for v in values] == [7, 8, 9]
    assert all(a == b for _, a, b in values)
    assert len({a for _, a, _ in values}) == 3


def test_a_seed_that_one_rank_sets_is_not_anothers():
    def fn():
        if dist.get_rank() == 0:
            torch.manual_seed(seed=99)
        dist.barrier()
        return torch.rand(1).item()

    values = run(fn, ranks=2, on="dgx-a100", seed=1).values
    assert list(values) == [alone(lambda: torch.rand(1).item(), s, 1)[0] for s in (99, 2)]


def test_a_generator_that_is_held_changes_hands_with_the_baton():
    """Its methods are C's: nothing sees them. So while somebody has hold of it, it is never another rank's."""

    def fn():
        mine = torch.manual_seed(dist.get_rank())
        dist.barrier()
        before = mine.get_state()
        drawn = torch.rand(1).item()
        dist.barrier()
        mine.set_state(before)
        dist.barrier()
        direct = torch.default_generator.initial_seed()
        dist.barrier()
        return drawn, torch.rand(1, generator=mine).item(), direct

    for rank, (drawn, again, direct) in enumerate(run(fn, ranks=3, on="dgx-a100").values):
        assert drawn == again == alone(lambda: torch.rand(1).item(), rank, 1)[0]
        assert direct == rank
