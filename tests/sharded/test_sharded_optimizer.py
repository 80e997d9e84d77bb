"""An optimizer that is sharded, under a model that is not: the same training, and state for one shard alone."""

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import RankRaised
from lockstep.models import mlp
from lockstep.residency import peak_of
from lockstep.sharded.sharded_optimizer import ShardedOptimizer

SIZES, ROWS, STEPS = [6, 11, 3], 12, 3
PSI = (6 + 1) * 11 + (11 + 1) * 3


def adam(tensors):
    return torch.optim.Adam(tensors, lr=0.05, eps=1e-3)


def batch(number):
    x, y = torch.randn(2, ROWS, 6, generator=torch.Generator().manual_seed(number))
    return x, y[:, :3]


def losses_and_model(model, optimizer, rows):
    for number in range(STEPS):
        x, y = batch(number)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
        optimizer.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def trained(group=None):
    model, r, K = mlp(SIZES), dist.get_rank(group), dist.get_world_size(group)
    optimizer = ShardedOptimizer(model.parameters(), adam, group)
    flat = losses_and_model(model, optimizer, slice(r * ROWS // K, (r + 1) * ROWS // K))
    state = optimizer.state_dict()["state"][0]
    return flat, state["exp_avg"].numel() + state["exp_avg_sq"].numel()


def serial():
    model = mlp(SIZES)
    return losses_and_model(model, adam(model.parameters()), slice(None))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_it_trains_as_one_rank_does_and_keeps_state_for_a_shard(ranks):
    for flat, state in run(trained, ranks=ranks, on="dgx-a100").values:
        assert torch.allclose(flat, serial(), atol=1e-5)
        assert state == 2 * -(-PSI // ranks)


def test_a_step_sends_a_reduce_scatter_and_an_all_gather():
    done = run(trained, ranks=4, on="dgx-a100")
    sent = [(e.kind, e.nbytes) for e in done.trace.of_rank(0) if e.kind != "compute"]
    whole = 4 * 4 * -(-PSI // 4)
    assert sent == [("reduce_scatter", whole), ("all_gather", whole)] * STEPS


def in_a_group():
    group = dist.new_group([0, 2])
    return trained(group)[0] if dist.get_rank() != 1 else None


def test_a_group_that_is_not_the_world():
    first, outside, second = run(in_a_group, ranks=3, on="dgx-a100").values
    assert outside is None
    assert torch.equal(first, second)
    assert torch.allclose(first, serial(), atol=1e-5)


def half_used():
    [used], [unused] = mlp([2, 1]), mlp([2, 1], seed=1)
    before = unused.weight.detach().clone()
    optimizer = ShardedOptimizer([*used.parameters(), *unused.parameters()], adam)
    used(torch.ones(1, 2)).sum().backward()
    was = used.weight.detach().clone()
    optimizer.step()
    return torch.equal(unused.weight, before), bool((used.weight != was).all())


def test_a_parameter_without_a_gradient_stays_as_it_is():
    assert run(half_used, ranks=2, on="dgx-a100").values == [(True, True)] * 2


def resumed():
    model, state = mlp(SIZES), None
    for number in range(STEPS):
        optimizer = ShardedOptimizer(model.parameters(), adam)
        if state:
            optimizer.load_state_dict(state)
        x, y = batch(number)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        state = optimizer.state_dict()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_what_one_optimizer_saves_another_one_goes_on_with():
    for flat in run(resumed, ranks=2, on="dgx-a100").values:
        assert torch.allclose(flat, serial(), atol=1e-5)


def held():
    model = mlp([64, 64, 64])
    optimizer = ShardedOptimizer(model.parameters(), adam)
    with peak_of(model, optimizer) as memory:
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(1, 64)).sum().backward()
            optimizer.step()
        return memory().peak / sum(p.numel() for p in model.parameters())


def test_a_rank_holds_whole_parameters_and_gradients_and_a_share_of_the_state():
    for bytes_each in run(held, ranks=4, on="dgx-a100").values:
        assert 4 + 4 + 8 / 4 <= bytes_each < 4 + 4 + 8 / 4 + 3 * 4 / 4 + 0.5  # Adam's temporaries are of the shard, too


def without_zero_grad():
    [layer] = mlp([2, 1])
    optimizer = ShardedOptimizer(layer.parameters(), adam)
    for _ in range(2):
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()


def test_gradients_that_have_been_sent_are_not_sent_again():
    with pytest.raises(RankRaised, match="zero_grad"):
        run(without_zero_grad, ranks=2, on="dgx-a100")


def of_two_dtypes():
    ShardedOptimizer(
        [torch.zeros(2, requires_grad=True), torch.zeros(2, dtype=torch.float64, requires_grad=True)], adam
    )


def of_nothing():
    ShardedOptimizer([], adam)


@pytest.mark.parametrize(("program", "told"), [(of_two_dtypes, "of several dtypes"), (of_nothing, "not there")])
def test_what_cannot_be_one_vector_is_told(program, told):
    with pytest.raises(RankRaised, match=told):
        run(program, ranks=1, on="dgx-a100")
