"""Collectives of every kind, with autograd and without: the same in both worlds.

gloo lacks some of them, and then NCCL's meaning counts on the virtual cluster: pre-multiplied sums, averages of
integers, all_to_all of lists of different sizes. torch.distributed.nn makes its all_to_all of K scatters on gloo.
"""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.nn.functional as differentiable
from both_worlds import both, quietly, same, virtual

from lockstep import run
from lockstep.errors import Mismatch

K = 3
WORLDS = ["dgx-a100", "processes"]


def ramp(rank, n=6):
    return torch.arange(float(n)) + 10 * rank


def everyone(n=6):
    return [ramp(r, n) for r in range(K)]


@pytest.mark.slow
def test_functional_collectives():
    def use():
        quietly()
        rank, world = dist.get_rank(), dist.group.WORLD
        x = ramp(rank)
        out = [functional.all_reduce(x, operator, world) for operator in ("sum", "avg", "max")]
        out += [functional.all_gather_single(x.view(3, 2), d, world) for d in (0, 1)]
        out += [functional.reduce_scatter_single(x, "sum", 0, world), functional.broadcast(x, 1, world)]
        out += [functional.all_to_all_single(x, None, None, world)]
        out += [functional.permute_tensor(x, [(r + 1) % K for r in range(K)], world)]
        out += functional.all_reduce_coalesced([x, x[:2]], "sum", world)
        out += functional.all_gather_single_coalesced([x, x[:2]], world)
        out += functional.reduce_scatter_single_coalesced([x, x[:3]], "sum", [0, 0], world)
        return [t + 0 for t in out]

    a = torch.stack(everyone())
    total, columns = a.sum(0), torch.cat([t.view(3, 2) for t in a], 1)
    for r, value in enumerate(both(use, ranks=K)):
        pieces = [total.chunk(K)[r], a[1], a.view(K, K, 2)[:, r].flatten(), a[(r - 1) % K]]
        coalesced = [total, total[:2], a.flatten(), a[:, :2].flatten(), total.chunk(K)[r], total[r : r + 1]]
        same(value, [total, a.mean(0), a[2], a.view(-1, 2), columns, *pieces, *coalesced])


def gradient_of(collective, n):
    """What each rank's input adds to the sum over ranks of (rank + 1)·|output|²/2."""
    x = ramp(dist.get_rank(), n).requires_grad_()
    out = collective(x)
    outs = [t for t in ([out] if isinstance(out, torch.Tensor) else out) if t.numel()]
    (sum((t * t).sum() for t in outs) * (dist.get_rank() + 1) / 2).backward()
    return x.grad


@pytest.mark.slow
def test_gradients_through_functional_collectives():
    def use():
        quietly()
        world = dist.group.WORLD
        return [
            gradient_of(lambda x: functional.all_gather_single_autograd(x, 0, world), 2),
            gradient_of(lambda x: functional.reduce_scatter_single_autograd(x, "sum", 0, world), 6),
            gradient_of(lambda x: functional.all_to_all_single_autograd(x, None, None, world), 6),
        ]

    a = torch.stack(everyone())
    weighted = torch.cat([(r + 1) * t for r, t in enumerate(a.sum(0).chunk(K))])  # output of rank r, times r + 1
    for r, (gathered, scattered, exchanged) in enumerate(both(use, ranks=K)):
        same(gathered, 6 * ramp(r, 2))
        same(scattered, weighted)
        same(exchanged, ramp(r) * torch.tensor([1.0, 1, 2, 2, 3, 3]))


def test_gradients_through_the_older_functions():
    def use():
        quietly()
        rank = dist.get_rank()
        return [
            gradient_of(differentiable.all_reduce, 4),
            gradient_of(lambda x: differentiable.broadcast(x, 1), 4),
            gradient_of(differentiable.all_gather, 4),
            gradient_of(lambda x: differentiable.scatter([x * i for i in range(K)], 0), 4),
            gradient_of(lambda x: differentiable.all_to_all_single(torch.empty(6), x), 6),
            gradient_of(
                lambda x: differentiable.gather(x, 0) if rank == 0 else [0 * t for t in differentiable.gather(x, 0)], 4
            ),
        ]

    total = sum(everyone(4))
    for r, value in enumerate(virtual(use, ranks=K).values):
        same(value[0], 6 * total)
        same(value[1], 6 * ramp(1, 4) if r == 1 else torch.zeros(4))
        same(value[4], ramp(r) * torch.tensor([1.0, 1, 2, 2, 3, 3]))


@pytest.mark.slow
def test_the_older_all_to_all_of_lists():
    """torch makes K scatters of it where the backend is gloo. So it does on the virtual cluster, whose backend is gloo
    until a program asks for another."""

    def use():
        quietly()
        return gradient_of(lambda x: differentiable.all_to_all([torch.empty(2) for _ in range(K)], list(x.chunk(K))), 6)

    simulated = virtual(use, ranks=K)
    real = run(use, ranks=K, on="processes")
    same(list(simulated.values), list(real.values))
    kinds = [{e.kind for e in result.trace.communication} for result in (simulated, real)]
    assert kinds == [{"scatter"}, {"scatter"}]


DTYPES = [
    torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.int32, torch.uint8, torch.int8, torch.complex64,
]  # fmt: skip


@pytest.mark.slow
def test_dtypes():
    def use():
        rank, found = dist.get_rank(), []
        for dtype in DTYPES:
            x = (torch.arange(4) + rank).to(dtype)
            total, given, slots = x.clone(), x.clone(), [torch.empty_like(x) for _ in range(K)]
            dist.all_reduce(total)
            dist.broadcast(given, 1)
            dist.all_gather(slots, x)
            if rank == 0:
                dist.send(x, 1)
            elif rank == 1:
                dist.recv(x, 0)
            found += [total, given, *slots, x]
        flags = torch.tensor([rank == 0, True])
        dist.broadcast(flags, 0)
        return [*found, flags]

    for value in both(use, ranks=K):
        for i, dtype in enumerate(DTYPES):
            same(value[6 * i : 6 * i + 2], [(3 * torch.arange(4) + 3).to(dtype), (torch.arange(4) + 1).to(dtype)])


@pytest.mark.slow
def test_reductions():
    def use():
        rank, op = dist.get_rank(), dist.ReduceOp
        found = []
        for operator in (op.SUM, op.AVG, op.PRODUCT, op.MIN, op.MAX):
            x = ramp(rank)
            dist.all_reduce(x, operator)
            found.append(x)
        for operator in (op.BAND, op.BOR, op.BXOR):
            n = torch.arange(4) + rank
            dist.all_reduce(n, operator)
            found.append(n)
        piece = torch.empty(2)
        dist.reduce_scatter_tensor(piece, ramp(rank), op.AVG)
        return [*found, piece]

    a, n = torch.stack(everyone()), [torch.arange(4) + r for r in range(K)]
    bits = [n[0] & n[1] & n[2], n[0] | n[1] | n[2], n[0] ^ n[1] ^ n[2]]
    for r, value in enumerate(both(use, ranks=K)):
        same(value, [a.sum(0), a.mean(0), a.prod(0), a[0], a[2], *bits, a.mean(0).chunk(K)[r]])


def test_reductions_that_only_nccl_has():
    def use():
        x, n = ramp(dist.get_rank()), torch.arange(3) + dist.get_rank()
        dist.all_reduce(x, dist._make_nccl_premul_sum(0.5))
        dist.all_reduce(n, dist.ReduceOp.AVG)
        uneven = [torch.empty(i + 1) for i in range(K)]
        dist.all_to_all(uneven, [torch.full((dist.get_rank() + 1,), 10.0 * dist.get_rank() + i) for i in range(K)])
        return x, n, uneven

    for r, (x, n, uneven) in enumerate(virtual(use, ranks=K, rules="nccl").values):
        same(x, sum(everyone()) / 2)
        assert n.tolist() == [1, 2, 3]
        same(uneven, [torch.full((i + 1,), 10.0 * i + r) for i in range(K)])


@pytest.mark.slow
def test_lists():
    def use():
        rank = dist.get_rank()
        x, out = ramp(rank), torch.empty(2)
        found = [torch.empty(2) for _ in range(K)]
        dist.all_to_all(found, list(x.chunk(K)))
        dist.reduce_scatter(out, list(x.chunk(K)))
        uneven = torch.empty(rank + 1)
        dist.reduce_scatter(uneven, [torch.full((i + 1,), float(rank)) for i in range(K)])
        slots = [torch.empty(6) for _ in range(K)] if rank == 1 else None
        dist.gather(x, slots, 1)
        mine = torch.empty(6)
        dist.scatter(mine, [x + i for i in range(K)] if rank == 1 else None, 1)
        return found, out, uneven, slots or [], mine

    a = torch.stack(everyone())
    for r, (found, out, uneven, slots, mine) in enumerate(both(use, ranks=K)):
        same(found, [t.chunk(K)[r] for t in a])
        same([out, uneven, mine], [a.sum(0).chunk(K)[r], torch.full((r + 1,), 3.0), ramp(1) + r])
        same(slots, list(a) if r == 1 else [])


def test_an_output_may_be_an_input():
    """Everything is read before anything is written."""

    def use():
        rank = dist.get_rank()
        x, rest = torch.full((2,), float(rank)), [torch.empty(2) for _ in range(K - 1)]
        dist.all_gather([x, *rest], x)
        y = torch.full((2,), float(rank))
        dist.gather(y, [y, *rest] if rank == 1 else None, 1)
        z = torch.full((2,), float(rank))
        dist.scatter(z, [torch.zeros(2), z, z] if rank == 1 else None, 1)
        return x, rest[0] if rank == 1 else None, z

    for r, (x, gathered, z) in enumerate(both(use, ranks=K)):
        assert x.tolist() == [0, 0]
        assert r != 1 or gathered.tolist() == [1, 1]
        assert z.tolist() == ([0, 0] if r == 0 else [1, 1])


def test_a_piece_that_does_not_fit_its_output():
    def use():
        dist.reduce_scatter(torch.empty(2 + dist.get_rank()), [torch.ones(2), torch.ones(2)])

    with pytest.raises(Mismatch, match="2 elements of float32 for rank 1, which expects 3"):
        virtual(use, ranks=2)


@pytest.mark.slow
def test_several_at_once():
    def use():
        x = ramp(dist.get_rank())
        y, gathered, scattered = x.clone(), [torch.empty(18), torch.empty(6)], [torch.empty(2), torch.empty(1)]
        with dist._coalescing_manager():
            dist.all_reduce(x)
            dist.all_reduce(y)
        with dist._coalescing_manager(async_ops=True) as waiting:
            dist.all_gather_into_tensor(gathered[0], ramp(dist.get_rank()))
            dist.all_gather_into_tensor(gathered[1], ramp(dist.get_rank(), 2))
        waiting.wait()
        with dist._coalescing_manager():
            dist.reduce_scatter_tensor(scattered[0], ramp(dist.get_rank()))
            dist.reduce_scatter_tensor(scattered[1], ramp(dist.get_rank(), 3))
        left, right = torch.empty(6), (dist.get_rank() + 1) % K
        operations = [
            dist.P2POp(dist.isend, ramp(dist.get_rank()), right),
            dist.P2POp(dist.irecv, left, (right + 1) % K),
        ]
        for work in dist.batch_isend_irecv(operations):
            work.wait()
        return x, y, gathered, scattered, left

    total, a = sum(everyone()), torch.stack(everyone())
    for r, value in enumerate(both(use, ranks=K)):
        same(
            value,
            [total, total, [a.flatten(), a[:, :2].flatten()], [total.chunk(K)[r], total[r : r + 1]], a[(r - 1) % K]],
        )


def test_objects():
    def use():
        rank = dist.get_rank()
        everything, two, one, sent = [None] * K, [rank, "x" * rank], [None], [None, None]
        gathered = [None] * K if rank == 0 else None
        dist.all_gather_object(everything, {"rank": rank})
        dist.broadcast_object_list(two, 1)
        dist.gather_object((rank,), gathered, 0)
        dist.scatter_object_list(one, list(range(K)) if rank == 0 else None, 0)
        if rank == 0:
            dist.send_object_list([1, "two"], 1)
        elif rank == 1:
            dist.recv_object_list(sent, 0)
        return everything, two, gathered, one, sent

    for r, value in enumerate(both(use, ranks=K)):
        gathered, sent = [(0,), (1,), (2,)] if r == 0 else None, [1, "two"] if r == 1 else [None, None]
        assert list(value) == [[{"rank": i} for i in range(K)], [1, "x"], gathered, [r], sent]


@pytest.mark.parametrize("on", WORLDS)
def test_receives_from_anyone(on):
    def use():
        if dist.get_rank():
            dist.send(torch.ones(1) * dist.get_rank(), 0)
            return []
        slots = [torch.zeros(1) for _ in range(K - 1)]
        works = [dist.irecv(slot) for slot in slots]
        for work in works:
            work.wait()
        return sorted((int(s), w._source_rank()) for s, w in zip(slots, works, strict=True))

    assert run(use, ranks=K, on=on).values[0] == [(1, 1), (2, 2)]
