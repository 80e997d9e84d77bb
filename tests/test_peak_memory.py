"""The memory of a piece of a rank's program, in any world."""

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import UsageError
from lockstep.residency import booked, peak_of

WORLDS = ["dgx-a100", "processes"]


def works(x):
    large = torch.ones(1000)
    return x + large[:10]


def program():
    before, x = torch.ones(5000), torch.ones(10)
    first, second = booked(works, x)[1], booked(works, x)[1]
    del before
    return first, second, booked(works, x)[1]


@pytest.mark.parametrize("on", WORLDS)
def test_each_piece_has_its_own_peak(on):
    result = run(program, ranks=2, on=on)
    for first, second, third in result.values:
        assert first["peak"] == second["peak"] == third["peak"] == 4 * (1000 + 10)
        assert sum(first.values()) - sum(third.values()) == 4 * 5000  # all that is alive, by kind
    assert min(result.peak_memory) >= 4 * (5000 + 10 + 1000 + 10)  # and the run's peak is still known


def nested():
    with peak_of() as outer:
        with peak_of() as inner:
            torch.ones(100)
            most = inner().peak
        torch.ones(10)
        return most, outer().peak


def test_a_piece_within_a_piece():
    ((inner, outer),) = run(nested, ranks=1).values
    assert inner == outer == 400


def test_where_no_rank_runs():
    with pytest.raises(UsageError, match="No rank runs here"), peak_of():
        pass


def refills():
    """A forward pass saves ``whole``; its storage is freed and gathered again before the backward pass."""
    whole, x = torch.empty(4), torch.ones(4, requires_grad=True)
    dist.all_gather_into_tensor(whole, torch.ones(2))
    y = (x * whole.detach()).sum()
    whole.untyped_storage().resize_(0)
    whole.untyped_storage().resize_(16)
    dist.all_gather_into_tensor(whole, torch.full((2,), float(dist.get_rank())))
    y.backward()
    return x.grad.tolist()


@pytest.mark.parametrize("on", WORLDS)
def test_what_is_received_is_no_change_for_autograd(on):
    """gloo and NCCL write past autograd's version counters, and the virtual cluster did not: emptying a layer's storage
    and gathering it again, as fully_shard does, worked on processes alone."""
    assert run(refills, ranks=2, on=on).values == [[0.0, 0.0, 1.0, 1.0]] * 2
