"""What one rank gives a collective, and the sentence that tells what is wrong with it: the same in both worlds.

gloo added up the memory between the elements of a column, on the virtual cluster the column was right; and what fitted
nowhere was told as ``zip() argument 2 is longer than argument 1``."""

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.errors import Mismatch, RankRaised
from lockstep.record.demands import dense

WORLDS = ["processes", "dgx-a100"]


def column():
    return torch.arange(12.0).view(3, 4)[:, 1]


def turned():
    return torch.arange(12.0).view(3, 4).t()


def for_all(like=None, number=4):
    return [torch.zeros(3) if like is None else like for _ in range(number)]


def on_root(value):
    return value if dist.get_rank() == 0 else None


@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: dist.all_reduce(column()), "not contiguous: give all_reduce x.contiguous() instead"),
        (lambda: dist.broadcast(column(), 0), "not contiguous: give broadcast"),
        (lambda: dist.reduce(column(), 0), "not contiguous: give reduce"),
        (lambda: dist.scatter(torch.empty(4, 3), on_root(for_all(turned()))), "not contiguous: give scatter"),
        (lambda: dist.reduce_scatter(torch.empty(4, 3), for_all(turned())), "not contiguous: give reduce_scatter"),
        (lambda: dist.all_gather(for_all(number=2), torch.ones(3)), "all_gather needs a list of 4 tensors, one for "),
        (lambda: dist.gather(torch.ones(3), on_root(for_all(number=3))), "gather needs a list of 4 tensors"),
        (lambda: dist.scatter(torch.ones(3), on_root(for_all(number=5))), "scatter needs a list of 4 tensors"),
        (lambda: dist.reduce_scatter(torch.ones(3), for_all(number=3)), "reduce_scatter needs a list of 4 tensors"),
        (lambda: dist.all_to_all(for_all(), for_all(number=2)), "all_to_all needs a list of 4 tensors"),
        (
            lambda: dist.all_gather_into_tensor(torch.empty(3), torch.ones(1)),
            "all_gather among 4 ranks has 3 elements for all, and 1 for one: not 4 times",
        ),
        (
            lambda: dist.reduce_scatter_tensor(torch.empty(1), torch.ones(3)),
            "reduce_scatter among 4 ranks has 3 elements for all, and 1 for one: not 4 times",
        ),
        (
            lambda: dist.scatter(torch.empty(3), on_root(for_all(torch.ones(4)))),
            "scatter has 4 elements for rank 0 of the group, and 3 on this rank",
        ),
        (
            lambda: dist.gather(torch.ones(3), on_root(for_all(torch.empty(4)))),
            "gather has 4 elements for rank 0 of the group, and 3 on this rank",
        ),
    ],
)
def test_what_can_not_be_carried_out_is_told(on, call, told):
    with pytest.raises(RankRaised) as caught:
        run(call, ranks=4, on=on)
    assert told in caught.value.message
    assert "test_demands.py" in caught.value.states[0].where


@pytest.mark.parametrize("on", WORLDS)
def test_what_can_be_carried_out_is(on):
    """Turned tensors have no gaps, and those of channels last neither."""

    def fn():
        images = torch.ones(2, 2, 3, 4).to(memory_format=torch.channels_last)
        for tensor in (x := turned(), images):
            dist.all_reduce(tensor)
            dist.broadcast(tensor, 1)
        lists = [torch.zeros(4, 3) for _ in range(2)]
        dist.all_gather(lists, turned())
        return x.sum() + images.sum() + sum(lists).sum()

    assert run(fn, ranks=2, on=on).values == [132.0 + 96.0 + 132.0] * 2


@pytest.mark.parametrize("on", WORLDS)
def test_gathering_several_tensors_at_once(on):
    """For each rank a list of tensors: it was read as for each tensor a list of ranks."""

    def fn():
        me = float(dist.get_rank())
        found = [[torch.zeros(2), torch.zeros(3)] for _ in range(dist.get_world_size())]
        dist.all_gather_coalesced(found, [torch.full((2,), me), torch.full((3,), -me)])
        return [[t.tolist() for t in of_rank] for of_rank in found]

    expected = [[[float(r)] * 2, [float(-r)] * 3] for r in range(4)]
    result = run(fn, ranks=4, on=on)
    assert result.values == [expected] * 4
    assert result.trace.counts()[0, "all_gather"] == (2, 4 * (8 + 12))


@pytest.mark.parametrize(
    ("tensor", "yes"),
    [
        (torch.ones(3, 4), True),
        (torch.ones(3, 4).t(), True),
        (torch.ones(3, 4)[:, :1], False),
        (torch.ones(3, 4)[:1], True),
        (torch.ones(1).expand(3), False),
        (torch.ones(()), True),
        (torch.ones(2, 3, 4).permute(2, 0, 1), True),
    ],
)
def test_tensors_without_gaps(tensor, yes):
    assert dense(tensor) is yes


@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize("rows", [(4,), (4, 2)])
def test_pieces_that_are_not_of_the_expected_size(on, rows):
    """On processes rank 0 "was killed by SIGABRT": gloo ends the process that gets more than it expects."""

    def fn():
        sends = [2, 1, 1, 0] if dist.get_rank() == 1 else [1, 1, 1, 1]
        dist.all_to_all_single(torch.empty(rows), torch.ones(rows), [1, 1, 1, 1], sends)

    with pytest.raises(Mismatch) as caught:
        run(fn, ranks=4, on=on)
    each = 1 if len(rows) == 1 else 2
    told = (
        f"in all_to_all, rank 1 has {2 * each} elements of float32 for rank 0, which expects {each} elements of float32"
    )
    assert told in caught.value.message
    assert "let them tell each other the sizes first" in str(caught.value)
    assert [s.rank for s in caught.value.states] == [0, 1, 2, 3]


@pytest.mark.parametrize("on", WORLDS)
def test_pieces_that_fit(on):
    """Uneven ones, empty ones, of lists, of a group, and those of functional collectives."""
    from torch.distributed._functional_collectives import all_to_all_single

    def fn():
        me, pair = dist.get_rank(), dist.new_group([0, 2])
        x, empty = torch.full((4,), float(me)), torch.empty(0, 3)
        dist.all_to_all_single(x.new_empty(3 * me), x[:3], [me] * 3, [0, 1, 2])
        dist.all_to_all_single(empty, empty.clone(), [0] * 3, [0] * 3)
        dist.all_to_all([torch.empty(1) for _ in range(3)], list(x[:3].chunk(3)))
        if me != 1:
            dist.all_to_all_single(torch.empty(4), x, group=pair)
        return (all_to_all_single(torch.ones(6), [me + 1] * 3, [1, 2, 3], dist.group.WORLD) + 0).sum()

    assert run(fn, ranks=3, on=on).values == [3.0, 6.0, 9.0]
