"""What one rank gives a collective, and the sentence that tells what is wrong with it: the same in both worlds.

gloo added up the memory between the elements of a column, on the virtual cluster the column was right; and what fitted
nowhere was told as ``zip() argument 2 is longer than argument 1``."""

import pytest
import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode

from lockstep import run
from lockstep.errors import Mismatch, RankRaised
from lockstep.record.argument_checks import dense
from lockstep.record.shared_memory import sharing
from lockstep.record.tensor_support import unsupported

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
        (
            lambda: dist.broadcast(torch.ones(3).to_sparse(), 0),
            "broadcast takes no sparse tensor: give it x.to_dense()",
        ),
        (
            lambda: dist.all_reduce(torch.ones(3).to_sparse(), dist.ReduceOp.MAX),
            "all_reduce with MAX takes no sparse tensor",
        ),
        (lambda: dist.all_reduce(torch.eye(3).to_sparse_csr()), "takes no tensor of layout sparse_csr"),
        (lambda: dist.all_reduce(torch.ones(3).short()), "all_reduce takes no int16 on gloo: give it x.long()"),
        (
            lambda: dist.broadcast(torch.ones(3).to(torch.float8_e4m3fn), 0),
            "broadcast takes no float8_e4m3fn on gloo: give it the bytes, x.view(torch.uint8)",
        ),
        (
            lambda: dist.all_reduce(torch.ones(3).int(), dist.ReduceOp.AVG),
            "all_reduce with AVG takes no int32, since an average is a fraction",
        ),
        (
            lambda: dist.reduce(torch.ones(3), 0, dist.ReduceOp.BXOR),
            "reduce with BXOR takes integers and bool, and this is float32",
        ),
        (lambda: dist.reduce(torch.ones(3) * 1j, 0, dist.ReduceOp.PRODUCT), "reduce with PRODUCT takes no complex"),
        (
            lambda: dist.all_gather([torch.empty(3)] * 4, torch.ones(3)),
            "all_gather writes to tensors 0 and 1 of its list, and these share memory: give it one of its own for each",
        ),
        (
            lambda: dist.all_gather(list(torch.empty(6).unfold(0, 3, 1)), torch.ones(3)),
            "all_gather writes to tensors 0 and 1 of its list, and these share memory",
        ),
        (
            lambda: dist.gather(torch.ones(3), on_root([torch.empty(3), *[torch.empty(3)] * 3])),
            "gather writes to tensors 1 and 2 of its list",
        ),
        (
            lambda: dist.all_to_all([torch.empty(3)] * 4, for_all(torch.ones(3))),
            "all_to_all writes to tensors 0 and 1 of its list",
        ),
        (
            lambda: dist.all_to_all_single(x := torch.ones(8), x),
            "all_to_all_single writes to the memory that it sends from: give it another tensor as output",
        ),
    ],
)
def test_what_can_not_be_carried_out_is_told(on, call, told):
    with pytest.raises(RankRaised) as caught:
        run(call, ranks=4, on=on)
    assert told in caught.value.message
    assert "test_argument_checks.py" in caught.value.states[0].where


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


def test_memory_that_is_shared_and_harmless():
    """Columns of a matrix lie between each other and share nothing; what is only read may be read twice; an output may
    be this rank's own input, except of all_to_all_single. Where two outputs overlapped, gloo left what came last."""

    def fn():
        me, ranks = dist.get_rank(), dist.get_world_size()
        x, columns, whole = torch.full((3,), float(me)), torch.zeros(3, ranks), torch.zeros(3 * ranks)
        dist.all_gather(list(columns.unbind(1)), x)
        dist.all_gather(list(whole.chunk(ranks)), x)
        dist.all_gather_into_tensor(whole, whole[3 * me : 3 * me + 3])
        dist.all_gather([x, *(torch.empty(3) for _ in range(ranks - 1))], x)
        summed, pieces, swapped = torch.empty(3), [torch.full((3,), me + float(r)) for r in range(ranks)], []
        dist.reduce_scatter(summed, [x + 1] * ranks)
        dist.reduce_scatter(pieces[me], pieces)
        swapped = [torch.full((2,), 10.0 * me + r) for r in range(ranks)]
        dist.all_to_all(swapped, swapped)
        twice = torch.full((3,), float(me))
        dist.all_reduce_coalesced([twice, twice[1:]])
        dist.scatter(x, [torch.ones(3)] * ranks if me == 0 else None)
        return [twice, columns, whole, x, summed, *pieces, *swapped]

    virtual, real = (run(fn, ranks=3, on=on).values for on in WORLDS)
    for mine, glooed in zip(virtual, real, strict=True):
        assert [t.tolist() for t in mine] == [t.tolist() for t in glooed]
    assert virtual[2][0].tolist() == [3.0] * 3
    assert virtual[2][1].tolist() == [[0.0, 1.0, 2.0]] * 3


@pytest.mark.parametrize(
    ("tensors", "pair"),
    [
        (lambda m: m.unbind(1), None),
        (lambda m: m.unbind(0), None),
        (lambda m: (m[:, :2], m[:, 2:]), None),
        (lambda m: (m[:, :2], m[:, 1:]), (0, 1)),
        (lambda m: (m.view(-1)[::2], m.view(-1)[1::2]), None),
        (lambda m: (m.view(-1)[::2], m.view(-1)[::3]), (0, 1)),
        (lambda m: (m[2], m[:0], m[1], m[1:3]), (2, 3)),
        (lambda m: (m[0], m, m[3]), (0, 1)),
        (lambda m: (torch.ones(2), torch.ones(2).to_sparse(), m), None),
    ],
)
def test_who_shares_an_element(tensors, pair):
    assert sharing(tensors(torch.zeros(4, 6))) == pair
    with FakeTensorMode():
        assert sharing(tensors(torch.zeros(4, 6))) == pair


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


@pytest.mark.parametrize(
    ("backend", "dtype", "takes"),
    [
        ("gloo", torch.int16, False),
        ("nccl", torch.int16, False),
        ("mpi", torch.int16, True),
        ("", torch.int16, True),
        ("gloo", torch.float8_e5m2, False),
        ("nccl", torch.float8_e5m2, True),
    ],
)
def test_dtypes_by_backend(backend, dtype, takes):
    """MPI adds int16: no sentence of ours forbids it."""
    assert (unsupported("all_reduce", torch.ones(3).to(dtype), "SUM", backend) == "") is takes
